"""Talking to API servers: one thin layer above aiohttp, since models are slow and lose fields."""
