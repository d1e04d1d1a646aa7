"""AI2-THOR driven through its client: one running simulator, its objects, masks and the agent's
body.
"""
