"""Files in the forms of PCA-Bench, of our own making."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image


def home(index: int = 0, **changes: Any) -> dict[str, Any]:
    return {
        "version": "1.0",
        "domain": "Domestic Robot",
        "index": index,
        "image": f"FloorPlan3_Rotation_{index}.png",
        "question": "Cool an apple and put it on the table.",
        "actions": ["Open the fridge", "Pick up the apple", "Put the apple on the table"],
        "answer_index": 0,
        "reason": "The apple is already in the hand and the fridge is closed.",
        "key_concept": ["closed fridge", "fridge"],
        "api_cached_results": {
            "object_detection_alfred": ["Fridge", "CounterTop"],
            "list_items_in_hand_alfred": ["Apple"],
        },
        **changes,
    }


def game(index: int = 0, **changes: Any) -> dict[str, Any]:
    return {
        "version": "1.0",
        "domain": "Open-World Game",
        "index": index,
        "image": f"{index}.png",
        "question": "Harvest milk",
        "actions": ["find cow", "milk cow", "craft bucket", "find iron ore", "craft iron ingot"],
        "answer_index": 2,
        "reason": "Milk needs a bucket; three iron ingots make one.",
        "key_concept": ["cow"],
        "api_cached_result": {
            "list_nearby_mobs": ["cow"],
            "list_items_in_inventory": [["iron_ingot", 3]],
        },
        **changes,
    }


def drive(index: int = 0, **changes: Any) -> dict[str, Any]:
    return {
        "version": "1.0",
        "domain": "Autonomous Driving",
        "index": index,
        "image": f"{index}.jpg",
        "question": "You are driving in town. What do you do?",
        "actions": ["Keep the speed", "Slow down"],
        "answer_index": 1,
        "reason": "An empty crosswalk still calls for slowing down.",
        "key_concept": ["crosswalk"],
        "api_cached_result": {
            "detect_traffic_sign": ["None"],
            "object_detection": [["car", 2], ["people", 0]],
            "caption": "A street.",
            "weather_detection": "sunny",
            "ocr": "None",
        },
        **changes,
    }


def picture(color: int = 80) -> Image.Image:
    return Image.fromarray(np.full((24, 32, 3), color, np.uint8))


def write(folder: Path, records: list[Any], *, pictures: str | None = "imgs") -> Path:
    """A `meta_data.json` with its images; returns the file."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "meta_data.json"
    file.write_text(json.dumps(records))
    if pictures is not None:
        (folder / pictures).mkdir(exist_ok=True)
        for record in records:
            if isinstance(record, dict) and isinstance(record.get("image"), str):
                picture().save(folder / pictures / Path(record["image"]).name)
    return file


def png() -> bytes:
    stream = io.BytesIO()
    picture(200).save(stream, "png")
    return stream.getvalue()
