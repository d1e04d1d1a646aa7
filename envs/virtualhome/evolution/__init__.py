"""The task template for EIE, and facts about a scene."""
