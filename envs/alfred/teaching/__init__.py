"""Labelled images, goals and text-only episodes that the small planner is trained on."""
