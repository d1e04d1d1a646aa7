"""Embodied agents in live simulators: observe, act, evolve.

The four packages lie at the top of the repository and are links here, so that an installed
`inhabit` takes one import name: `inhabit.envs`, `inhabit.agents`, `inhabit.episodes`,
`inhabit.eie`.
"""
