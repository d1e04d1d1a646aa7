"""Luanti as the world: started for one scene, spoken to over one line, ended with it."""
