"""Reads what a text claims about a scene, and checks it.

Reads plain English about objects: that they are there (or not), how many, in what state, where, and
what is in the hand. It understands synonyms and negation and knows nothing of any environment but
the `SceneObject`s that it is given. It skips what it cannot read, and leaves open what it cannot
decide.

    things = env.things()
    for claim in Reader(things).claims("The fridge isn't open, and I hold a mug."):
        print(claim.words, holds(claim, things))
"""

from inhabit.envs.claims.checking import Reader, holds
from inhabit.envs.claims.claim import About, Claim, Intent, Noun

__all__ = ["About", "Claim", "Intent", "Noun", "Reader", "holds"]
