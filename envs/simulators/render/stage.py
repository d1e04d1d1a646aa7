"""The world that can be drawn: bodies, light, and images of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from inhabit.envs.simulators.render.camera import Camera, Projection
from inhabit.envs.simulators.render.fragments import fragments
from inhabit.envs.simulators.render.kernel import Scratch
from inhabit.envs.simulators.render.mesh import Mesh
from inhabit.envs.simulators.render.occlusion import open_sky
from inhabit.envs.simulators.render.pack import Body, Pack
from inhabit.envs.simulators.render.pattern import paint
from inhabit.envs.simulators.render.raster import VisibilityBuffer, depth_and_ids, rasterize
from inhabit.envs.simulators.render.shade import Lighting, shade
from inhabit.envs.simulators.render.shadow import ShadowMap, lit, shadow_map

Vector = tuple[float, float, float]
Shape = tuple[Mesh, NDArray[np.float32], NDArray[np.float32]]
"""A mesh, and the places and normals (V, 3) of its vertices in the world."""


@dataclass(frozen=True, slots=True)
class Light:
    """A round lamp. The sun is one that is far away; `inhabit.envs.simulators.render.shell.lamp`
    lights a room.
    """

    position: Vector
    """Position in metres."""
    color: Vector = (1.0, 0.96, 0.88)
    """Linear colour, each channel 0..1."""
    strength: float = 1.0
    """Brightness at the lamp; at `reach` half of it is left."""
    size: float = 0.15
    """Radius in metres: how soft its shadows are."""
    reach: float = 4.0
    """Distance in metres at which half of the strength is left."""

    def __post_init__(self) -> None:
        if not np.isfinite((*self.position, *self.color, self.strength)).all():
            raise ValueError(f"A lamp's values must be finite; got {self}.")
        if not (self.size >= 0.0 and self.reach > 0.0):
            raise ValueError(f"Expected size >= 0 and reach > 0; got {self.size} and {self.reach}.")


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """An image and what is in it."""

    rgb: NDArray[np.uint8] | None
    """Image, (H, W, 3), first row on top; None if it wasn't asked for."""
    depth: NDArray[np.float32]
    """Depth, (H, W), metres along the optical axis; inf where nothing is seen."""
    ids: NDArray[np.int32]
    """Index into `names` of what each pixel shows, (H, W); -1 where nothing is seen."""
    names: tuple[str, ...]
    """The bodies on the stage, in the order in which they came."""
    normals: NDArray[np.float32] | None = None
    """Unit normals of the faces, (H, W, 3), along the image's right, up and towards the camera;
    zeros where nothing is seen. None if they weren't asked for."""


class Stage:
    """Named bodies under a light. What doesn't move is prepared once."""

    def __init__(self, scratch: Scratch | None = None) -> None:
        """An empty stage.

        Args:
            scratch: memory to share with other stages; None for its own.
        """
        self._scratch = scratch or Scratch()
        self._bodies: dict[str, Body] = {}
        self._lamps: dict[str, Light] = {}
        self._key = Light((0.0, 5.0, 0.0), reach=6.0)
        self._sky: Vector = (0.52, 0.51, 0.50)
        self._ground: Vector = (0.34, 0.32, 0.29)
        self._pack: Pack | None = None
        self._shadow: ShadowMap | None = None
        self._lighting: Lighting | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The bodies on the stage: as they came, or as they were arranged."""
        return tuple(self._bodies)

    def arrange(self) -> None:
        """Have the bodies in the order of their names, whenever they came.

        Of two surfaces in the same place the first one is seen.
        """
        arranged = dict(sorted(self._bodies.items()))
        if list(arranged) != list(self._bodies):
            self._bodies = arranged
            self._pack = self._shadow = None

    def put(
        self,
        name: str,
        mesh: Mesh,
        rotation: ArrayLike,
        position: ArrayLike,
        *,
        casts_shadow: bool = True,
    ) -> None:
        """Add a body, or put another in place of the one that has this name.

        Args:
            name: any text, its own.
            mesh: what it looks like.
            rotation: (3, 3), from its own axes to the world's.
            position: (3,), metres.
            casts_shadow: False for what encloses the room, and for what is held near the eye.
        """
        known = self._bodies.get(name)
        if known is not None and known.mesh is mesh and self._pack is not None:
            # What is picked up casts no shadow any more: the arrays stay as they are.
            known.casts_shadow = casts_shadow
            self._pack.casts_shadow[self.names.index(name)] = casts_shadow
            self._shadow = None
            self.move(name, rotation, position)
            return
        body = Body(mesh, casts_shadow)
        body.place(*pose(rotation, position))
        self._bodies[name] = body
        self._pack = self._shadow = None

    def move(self, name: str, rotation: ArrayLike, position: ArrayLike) -> None:
        """Give a body another pose.

        Raises:
            KeyError: there is no such body.
        """
        body = self._bodies[name]
        body.place(*pose(rotation, position))
        if self._pack is not None:
            self._pack.place(self.names.index(name), body)
        if body.casts_shadow:
            self._shadow = None

    def remove(self, name: str) -> None:
        """Take a body away.

        Raises:
            KeyError: there is no such body.
        """
        del self._bodies[name]
        self._pack = self._shadow = None

    def shape(self, name: str) -> Shape:
        """How a body stands in the world.

        Raises:
            KeyError: there is no such body.
        """
        body = self._bodies[name]
        return body.mesh, body.vertices, body.normals

    def light(
        self, key: Light | None = None, *, sky: Vector | None = None, ground: Vector | None = None
    ) -> None:
        """Light the room: one lamp that casts soft shadows, and what comes from all around.

        Args:
            key: the lamp; None leaves it as it is. At first it hangs high over the origin.
            sky: linear light from above, such as (0.5, 0.48, 0.45).
            ground: linear light from below.
        """
        if key is not None:
            self._key, self._shadow = key, None
        self._sky, self._ground = sky or self._sky, ground or self._ground
        self._lighting = None

    def lamp(self, name: str, light: Light | None) -> None:
        """Switch a further lamp on, which casts no shadow; None switches it off."""
        if light is None:
            self._lamps.pop(name, None)
        else:
            self._lamps[name] = light
        self._lighting = None

    def render(
        self,
        camera: Camera,
        width: int,
        height: int,
        *,
        rgb: bool = True,
        shadow: bool = True,
        samples: int = 1,
        normals: bool = False,
    ) -> Frame:
        """Take an image.

        Args:
            camera: where from.
            width: pixels.
            height: pixels.
            rgb: False leaves out the colours, which is many times quicker.
            shadow: False leaves out the shadows.
            samples: per side of a pixel; 2 smooths the edges of the colours. Depth and ids are
                always those of the pixels' centres.
            normals: whether to tell how the seen faces are turned.

        Raises:
            ValueError: an image without pixels, or without samples.
        """
        if samples < 1:
            raise ValueError(f"Expected at least 1 sample per side of a pixel; got {samples}.")
        if self._pack is None:
            self._pack = Pack(self._bodies.values())
        pack = self._pack
        view = camera.view(width, height)
        order = view.nearest_first(pack.low, pack.high)
        surface = rasterize(pack.triangles, order, view, self._scratch)
        depth, ids = depth_and_ids(surface, pack.owners)
        facing = _facing(surface, pack.surfaces.planes, view) if normals else None
        picture = self._picture(pack, view, surface, samples, shadow) if rgb else None
        return Frame(picture, depth, ids, self.names, facing)

    def _picture(
        self, pack: Pack, view: Projection, surface: VisibilityBuffer, samples: int, shadow: bool
    ) -> NDArray[np.uint8]:
        fine, scratch = surface, self._scratch
        if samples > 1:
            close = view.finer(samples)
            order = close.nearest_first(pack.low, pack.high)
            fine = rasterize(pack.triangles, order, close, scratch, "raster.fine")
        seen = fragments(fine, pack, view, samples, scratch)
        if shadow and pack.casts_shadow.any():
            if self._shadow is None:
                self._shadow = shadow_map(pack, self._key.position, self._key.size, scratch)
            reached = lit(seen, pack, self._shadow, self._key.size, scratch)
        else:
            reached = np.ones(len(seen.face), np.float32)
        around = open_sky(surface, pack.surfaces.planes, seen, view, scratch)
        painted = paint(seen, pack, view, scratch)
        if self._lighting is None:
            self._lighting = self._gathered_light()
        return shade(seen, painted, reached, around, self._lighting, view, scratch)

    def _gathered_light(self) -> Lighting:
        # Sums of light are rounded: in another order they could come to another colour.
        lamps = [self._key, *(self._lamps[name] for name in sorted(self._lamps))]
        rows = [
            (*lamp.position, *(c * lamp.strength for c in lamp.color), lamp.reach) for lamp in lamps
        ]
        return Lighting(*(np.array(v, np.float32) for v in (self._sky, self._ground, rows)))


def pose(
    rotation: ArrayLike, position: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A checked rotation matrix and position.

    Raises:
        ValueError: wrong shapes, or numbers that aren't finite.
    """
    matrix, point = np.array(rotation, np.float64), np.array(position, np.float64)
    if matrix.shape != (3, 3) or point.shape != (3,):
        raise ValueError(
            f"Expected a rotation (3, 3) and a position (3,); got {matrix.shape} and {point.shape}."
        )
    if not (np.isfinite(matrix).all() and np.isfinite(point).all()):
        raise ValueError(f"A pose must be finite; got {matrix.tolist()} at {point.tolist()}.")
    return matrix, point


def _facing(
    surface: VisibilityBuffer, planes: NDArray[np.float32], view: Projection
) -> NDArray[np.float32]:
    """`Frame.normals`. Both sides of a face can be seen, so each is turned to the camera."""
    right, up = np.meshgrid(
        (np.arange(view.width) - (view.width - 1) / 2) / view.focal,
        ((view.height - 1) / 2 - np.arange(view.height)) / view.focal,
    )
    rays = np.stack((right, up, np.ones_like(up)), axis=-1)
    seen = surface.face >= 0
    found = planes[np.where(seen, surface.face, 0)] @ view.axes.T if len(planes) else rays * 0.0
    away = np.einsum("hwk,hwk->hw", found, rays) > 0.0
    found = np.where(away[..., None], -found, found) * seen[..., None]
    found[..., 2] *= -1.0
    return found.astype(np.float32)
