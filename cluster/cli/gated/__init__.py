"""What waits at gates, on a terminal: started, followed, decided on, read and stopped, whatever its kind."""
