"""The library called by itself: what the environment's trials have to be equal to.

Run by the library's own interpreter: `python direct.py DATASET SEED...`, one line of JSON each.
"""

from __future__ import annotations

import hashlib
import json
import random
import sys

import numpy as np
from iwisdm import make

env = make("ShapeNet", dataset_fp=sys.argv[1])
config = env.init_env_spec().auto_gen_config
config.update(root_ops=["And", "Or"], boolean_ops=["And", "Or", "IsSame", "NotSame"])
config.update(max_op=15, max_depth=5, max_switch=0, switch_threshold=0.0)
config.update(select_limit=True, compare_const_prob=0.0)
for seed in map(int, sys.argv[2:]):
    random.seed(seed)
    np.random.seed(seed)
    env.set_env_spec(env.init_env_spec(auto_gen_config=config, max_delay=2, delay_prob=0.5))
    while True:
        ((_, (_, task)),) = env.generate_tasks(1)
        if task.n_frames <= 6:
            break
    ((frames, _, info),) = env.generate_trials(tasks=[task], mode="val")
    digest = hashlib.sha256(np.stack(frames).tobytes()).hexdigest()
    sys.stdout.write(json.dumps([info["instruction"], info["answers"], digest]) + "\n")
