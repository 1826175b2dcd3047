"""How often messages are routed right: leave-one-voice-out, alone and with a judge."""
