"""Temporal activities: load, call one domain function, store; heartbeat; translate errors. Thin."""
