"""Chat endpoints of OpenAI's form."""
