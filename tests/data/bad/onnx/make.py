#!/usr/bin/env python3
"""Writes the bad ONNX files of this folder. Needs nothing but Python: the few protobuf fields are encoded by hand
(field numbers from onnx.proto). Run it here after adding a case; the test reads every *.onnx that lies here."""

import os
import random
import struct

os.chdir(os.path.dirname(os.path.abspath(__file__)))


def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def num(field, n):
    return varint(field << 3) + varint(n)


def sub(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def tensor(name, dims, kind=1, raw=None, int64=(), strings=(), external=None):
    data = b"".join(num(1, d) for d in dims) + num(2, kind)
    data += b"".join(num(7, v) for v in int64) + b"".join(sub(6, s) for s in strings) + sub(8, name)
    if raw is not None:
        data += sub(9, raw)
    if external:
        data += sub(13, sub(1, "location") + sub(2, external)) + num(14, 1)
    return data


def info(name, dims, kind=1):
    shape = b"".join(sub(1, sub(2, d) if isinstance(d, str) else num(1, d)) for d in dims)
    return sub(1, name) + sub(2, sub(1, num(1, kind) + sub(2, shape)))


def attr(name, value):
    data = sub(1, name)
    if isinstance(value, int):
        return data + num(3, value) + num(20, 2)
    if isinstance(value, list):
        return data + b"".join(num(8, v) for v in value) + num(20, 7)
    if isinstance(value, dict):
        return data + sub(6, value["graph"]) + num(20, 5)
    return data + sub(4, value) + num(20, 3)


def node(op, inputs, outputs, domain="", name=None, **attributes):
    data = b"".join(sub(1, i) for i in inputs) + b"".join(sub(2, o) for o in outputs)
    data += sub(3, name or op.lower()) + sub(4, op) + b"".join(sub(5, attr(k, v)) for k, v in attributes.items())
    return data + (sub(7, domain) if domain else b"")


def graph(nodes, inputs=(), outputs=("y",), stored=()):
    data = b"".join(sub(1, n) for n in nodes) + sub(2, "bad") + b"".join(sub(5, t) for t in stored)
    data += b"".join(sub(11, i) for i in inputs)
    return data + b"".join(sub(12, info(o, []) if o == "scalar" else sub(1, o)) for o in outputs)


def model(g, functions=(), opset=13):
    data = num(1, 8) + sub(7, g) + sub(8, num(2, opset)) + sub(8, sub(1, "local") + num(2, 1))
    return data + b"".join(sub(25, f) for f in functions)


def function(name, nodes, inputs=("a",), outputs=("b",)):
    data = sub(1, name) + b"".join(sub(4, i) for i in inputs) + b"".join(sub(5, o) for o in outputs)
    return data + b"".join(sub(7, n) for n in nodes) + sub(9, num(2, 13)) + sub(9, sub(1, "local") + num(2, 1)) + sub(10, "local")


def longs(name, values):
    return tensor(name, [len(values)], 7, int64=values)


def write(name, data):
    with open(name + ".onnx", "wb") as file:
        file.write(data)


X = info("x", [1, 3, 8, 8])
good = model(graph([node("Conv", ["x", "w"], ["c"]), node("Relu", ["c"], ["y"])], [X],
                   stored=[tensor("w", [4, 3, 3, 3], raw=struct.pack("<108f", *[0.5] * 108))]))


def one(name, op, inputs, stored=(), shape=(1, 3, 8, 8), **attributes):
    write(name, model(graph([node(op, inputs, ["y"], **attributes)], [info("x", list(shape))], stored=stored)))


# the file itself
write("empty", b"")
write("truncated_header", good[:3])
write("truncated_graph", good[:len(good) // 2])
write("truncated_end", good[:-1])
write("random_bytes", bytes(random.Random(7).randrange(256) for _ in range(512)))
write("text", b"This is not a model but a letter.\n")
write("json", b'{"model_type": "llama", "hidden_size": 4096}\n')
write("web_page", b"<!DOCTYPE html><html><body>404 Not Found</body></html>\n")
write("lfs_pointer", b"version https://git-lfs.github.com/spec/v1\noid sha256:0000\nsize 102\n")
write("other_protobuf", sub(101, "somebody else's message") + num(102, 7))
write("no_graph", num(1, 8) + sub(8, num(2, 13)))
write("trailing_garbage", good + b"\xff\xff\xff\xff")

# names
write("cycle", model(graph([node("Add", ["x", "b"], ["a"], name="first"), node("Relu", ["a"], ["b"], name="second"),
                            node("Relu", ["b"], ["y"], name="third")], [X])))
write("own_output", model(graph([node("Add", ["x", "y"], ["y"])], [X])))
write("duplicate_names", model(graph([node("Relu", ["x"], ["y"]), node("Abs", ["x"], ["y"], name="again")], [X])))
write("duplicate_inputs", model(graph([node("Relu", ["x"], ["y"])], [X, X])))
write("missing_input", model(graph([node("Relu", ["nobody"], ["y"])], [X])))
write("missing_output", model(graph([node("Relu", ["x"], ["z"])], [X])))

# extents
one("negative_extent", "Relu", ["x"], shape=(1, -7))
one("huge_extent", "Relu", ["x"], shape=(1, 1 << 62))
one("product_overflow", "Relu", ["x"], shape=(1 << 40, 1 << 40, 1 << 40))
one("rank_5000", "Relu", ["x"], shape=(1,) * 5000)
one("stored_huge", "Add", ["x", "w"], [tensor("w", [1 << 62, 4])])
one("stored_negative", "Add", ["x", "w"], [tensor("w", [-3])])
one("stored_size_times_type", "Add", ["x", "w"], [tensor("w", [1 << 31, 1 << 31], 11, raw=b"\0" * 16)])
one("raw_data_too_short", "Add", ["x", "w"], [tensor("w", [8, 8], raw=b"\0" * 100)])
one("typed_data_too_long", "Reshape", ["x", "t"], [tensor("t", [1], 7, int64=[1, 2, 3])])
one("string_data_wrong", "Identity", ["s"], [tensor("s", [4], 8, strings=["a", "b"])])
one("constant_of_shape_2_60", "ConstantOfShape", ["t"], [longs("t", [1 << 30, 1 << 30])])
one("tile_bomb", "Tile", ["x", "t"], [longs("t", [1 << 40, 1 << 40, 1 << 40, 1 << 40])])
write("tile_tower", model(graph([node("Tile", ["x", "t"], ["t0"])] + [node("Tile", [f"t{i}", "t"], [f"t{i + 1}"], name=f"tile{i}")
                                 for i in range(12)], [X], ["t12"], [longs("t", [64, 64, 64, 64])])))
one("expand_bomb", "Expand", ["x", "t"], [longs("t", [1 << 20] * 3 + [1, 3, 8, 8])])
one("range_endless", "Range", ["a", "b", "c"], [tensor("a", [], 7, int64=[0]), tensor("b", [], 7, int64=[1 << 60]),
                                               tensor("c", [], 7, int64=[1])])
one("range_step_zero", "Range", ["a", "b", "c"], [tensor("a", [], 7, int64=[0]), tensor("b", [], 7, int64=[9]),
                                                 tensor("c", [], 7, int64=[0])])

# nodes that contradict themselves
one("reshape_negative", "Reshape", ["x", "t"], [longs("t", [-5, 2])])
one("reshape_two_open", "Reshape", ["x", "t"], [longs("t", [-1, -1])])
one("reshape_other_count", "Reshape", ["x", "t"], [longs("t", [7, 11])])
one("conv_group_zero", "Conv", ["x", "w"], [tensor("w", [4, 3, 3, 3])], group=0)
one("conv_channels", "Conv", ["x", "w"], [tensor("w", [4, 5, 3, 3])])
one("conv_kernel_too_large", "Conv", ["x", "w"], [tensor("w", [4, 3, 9, 9])])
one("conv_stride_zero", "Conv", ["x", "w"], [tensor("w", [4, 3, 3, 3])], strides=[0, 0])
one("conv_pads_overflow", "Conv", ["x", "w"], [tensor("w", [4, 3, 3, 3])], pads=[(1 << 63) - 1] * 4)
one("pool_kernel_missing", "MaxPool", ["x"])
one("pool_dilation_overflow", "MaxPool", ["x"], kernel_shape=[1 << 62, 2], dilations=[1 << 62, 1])
one("gather_index_outside", "Gather", ["x", "i"], [longs("i", [3, 99])])
one("gather_axis_outside", "Gather", ["x", "i"], [longs("i", [0])], axis=9)
one("concat_mismatch", "Concat", ["x", "w"], [tensor("w", [1, 3, 8, 9])], axis=1)
one("add_mismatch", "Add", ["x", "w"], [tensor("w", [5])])
one("matmul_mismatch", "MatMul", ["x", "w"], [tensor("w", [9, 4])])
one("gemm_rank", "Gemm", ["x", "w"], [tensor("w", [8, 4])])
one("transpose_perm_twice", "Transpose", ["x"], perm=[0, 0, 1, 2])
one("squeeze_not_one", "Squeeze", ["x", "a"], [longs("a", [1])])
one("split_sum", "Split", ["x", "s"], [longs("s", [100])], axis=1)
one("slice_step_zero", "Slice", ["x", "a", "b", "c", "d"], [longs("a", [0]), longs("b", [8]), longs("c", [2]), longs("d", [0])])
one("topk_too_many", "TopK", ["x", "k"], [longs("k", [100])])
one("einsum_nonsense", "Einsum", ["x"], equation="i->->j")
one("depth_to_space_zero", "DepthToSpace", ["x"], blocksize=0)

# functions, control flow, external data
write("function_recursion", model(graph([node("F", ["x"], ["y"], "local")], [X]),
                                  [function("F", [node("F", ["a"], ["b"], "local")])]))
write("function_doubling", model(graph([node("F29", ["x"], ["y"], "local")], [X]),
                                 [function("F0", [node("Relu", ["a"], ["b"])])] +
                                 [function(f"F{i}", [node(f"F{i - 1}", ["a"], ["m"], "local"),
                                                     node(f"F{i - 1}", ["m"], ["b"], "local")]) for i in range(1, 30)]))
cond = tensor("c", [], 9, raw=b"\1")
write("if_reads_itself", model(graph([node("If", ["c"], ["y"], then_branch={"graph": graph([node("Relu", ["y"], ["t"])], (), ["t"])},
                                           else_branch={"graph": graph([node("Relu", ["x"], ["e"])], (), ["e"])})], [X], stored=[cond])))
nested = graph([node("Relu", ["x"], ["t"])], (), ["t"])
for _ in range(60):
    nested = graph([node("If", ["c"], ["t"], then_branch={"graph": nested}, else_branch={"graph": graph([node("Relu", ["x"], ["t"])], (), ["t"])})], (), ["t"])
write("if_nested_60", model(graph([node("If", ["c"], ["y"], then_branch={"graph": nested}, else_branch={"graph": nested})], [X], stored=[cond])))
write("if_without_branches", model(graph([node("If", ["c"], ["y"])], [X], stored=[cond])))
body = graph([node("Identity", ["go"], ["on"]), node("Relu", ["v"], ["w"])],
             [info("i", [], 7), info("go", [], 9), info("v", [1, 3, 8, 8])], ["on", "w"])
write("loop_2_62_trips", model(graph([node("Loop", ["m", "c", "x"], ["y"], body={"graph": body})], [X],
                                     stored=[tensor("m", [], 7, int64=[1 << 62]), cond])))
tower = graph([node("Relu", ["v"], ["w"]), node("Identity", ["go"], ["on"])],
              [info("i", [], 7), info("go", [], 9), info("v", [1, 3, 8, 8])], ["on", "w"])
for level in range(8):
    tower = graph([node("Loop", ["m", "c", "v"], ["w"], body={"graph": tower}, name=f"loop{level}"), node("Identity", ["go"], ["on"])],
                  [info("i", [], 7), info("go", [], 9), info("v", [1, 3, 8, 8])], ["on", "w"])
write("loop_tower", model(graph([node("Loop", ["m", "c", "x"], ["y"], body={"graph": tower})], [X],
                                stored=[tensor("m", [], 7, int64=[1 << 30]), cond])))
write("loop_without_body", model(graph([node("Loop", ["", "c", "x"], ["y"])], [X], stored=[cond])))
one("external_escape", "Add", ["x", "w"], [tensor("w", [8], external="../../../../etc/passwd")])
one("external_absolute", "Add", ["x", "w"], [tensor("w", [8], external="/etc/passwd")])
