"""The bundled planner of ALFRED: reads goals, follows skills, and ranks actions.

It joins by the entry points that other packages use, and nothing else imports it.
"""
