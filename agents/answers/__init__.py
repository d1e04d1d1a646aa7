"""Parses the replies of models, and matches them with candidate actions."""
