"""One line for notebooks: `import inhabit.thor`.

From then on every `ai2thor.controller.Controller(...)` of this process, and of those that it
starts, gets the embedded household, as under `inhabit thor -- COMMAND`. Importing it is the whole
use: nothing else in the package acts on being imported.
"""

from inhabit.envs.simulators.household.attach import attach

attach()
