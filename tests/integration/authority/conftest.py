"""What tests of research share."""

from tests.integration.drafting.conftest import site as site
