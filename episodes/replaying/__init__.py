"""Recorded episodes re-executed, resumed, forked and replanned."""
