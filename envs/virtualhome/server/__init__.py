"""VirtualHome's Unity protocol without Unity: the evolving graph, drawn by our renderer.

`python -m inhabit.envs.virtualhome.server --port 8080` listens to this machine alone.
"""
