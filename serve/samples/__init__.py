"""Three sample MCP servers (mail, bills, CRM) over one small invented company, to try operations with."""
