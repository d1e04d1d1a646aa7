"""Names that people have for things of a household, beside those of an environment."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from inhabit.envs.world.words import by_name

_SAME = """
alarm clock, clock
armchair, arm chair, easy chair
bananas, banana, bunch of bananas
bar of soap, soap bar, cake of soap, soap
basketball, ball
bathroom cabinet, cabinet, cupboard, medicine cabinet, bathroom cupboard
bathroom counter, counter, countertop, worktop
bathtub, bath tub, tub
bookshelf, bookcase, shelf
box, cardboard box
bread, loaf, loaf of bread, bread loaf
cabinet, cupboard
ceiling lamp, ceiling light, overhead lamp, overhead light, lamp
cell phone, cellphone, phone, mobile, mobile phone, smartphone, telephone
cereal, box of cereal, cereal box
closet, wardrobe
cloth, rag, dishcloth, dishrag
coffee machine, coffee maker
coffee table, table
condiment shaker, shaker
cooking pot, pot, saucepan
countertop, counter, worktop, kitchen counter, work surface
cup, glass, tumbler, drinking glass
cupcake, muffin
curtains, drapes
cutting board, chopping board
desk lamp, table lamp, reading lamp, bedside lamp, lamp
dining table, kitchen table, dinner table, table
dish sponge, washing sponge, sponge
dishwashing liquid, washing-up liquid, dish soap
dresser, chest of drawers
face cream, moisturizer, moisturiser
faucet, tap, water tap
floor lamp, standing lamp, tall lamp, lamp
folder, binder
fridge, refrigerator, icebox
frying pan, pan, skillet
garbage can, garbage bin, garbage, trash can, trash bin, trash, bin, dustbin, rubbish bin, waste bin
houseplant, potted plant, plant
kettle, tea kettle, teakettle
keychain, keys, set of keys, bunch of keys
kitchen cabinet, cabinet, cupboard, kitchen cupboard
laptop, laptop computer, notebook computer
laundry basket, laundry hamper, hamper, clothes basket
microwave, microwave oven
milk, carton of milk, milk carton, bottle of milk
mouse, computer mouse
mug, cup, coffee mug, coffee cup, teacup
newspaper, paper
nightstand, night stand, side table, bedside table, night table
orchid, potted plant, plant
pants, trousers, slacks
pillow, cushion
remote control, remote, tv remote
rug, carpet
shelf, ledge
shirt, t-shirt
sink, basin, washbasin
sofa, couch, settee
standing mirror, mirror
statue, figurine, sculpture, statuette
stove, cooker, hob, stovetop, stove top, cooktop
stove burner, burner, stove, cooker, hob, stovetop, stove top, cooktop
teddy bear, teddy
tissue box, box of tissues, tissues
toilet, loo
toilet paper, toilet roll, loo roll, loo paper, toilet tissue, roll of toilet paper
toothpaste, tube of toothpaste
tv, television, telly, tv set, television set
vase, flower vase
washing machine, washer, clothes washer
watch, wristwatch, wrist watch
water glass, glass, tumbler, drinking glass
wine, bottle of wine, wine bottle
wine bottle, bottle of wine
wine glass, glass
"""
"""A line for each thing; the first name is the thing's."""


def called(kinds: Collection[str]) -> Mapping[str, frozenset[str]]:
    """Every further name of some kinds, singular and plural -> the kinds that it may mean.

    A kind has the names of each line that its own name begins, or else of each that has it.
    """
    lines = [line.split(", ") for line in _SAME.strip().splitlines()]
    names = {}
    for kind in kinds:
        own = [line for line in lines if line[0] == kind] or [ls for ls in lines if kind in ls]
        names[kind] = [name for line in own for name in line]
    return by_name(names)
