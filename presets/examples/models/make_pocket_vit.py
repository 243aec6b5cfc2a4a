"""Writes pocket-vit.onnx: a small vision transformer with a convolutional stem, as an exporter would write it.

    make_pocket_vit.py [FILE]

97,000 parameters, a symbolic batch, a residual stage, one attention block spelt out in plain operators, and the
usual arithmetic on shapes (Shape, Gather, Concat, Reshape) that an importer has to fold. Needs Python alone: the few
messages of onnx.proto that are used are encoded here. The weights are random (He, fixed seed), the file is Orrery's own.
"""
import random
import struct
import sys

FLOAT, INT64 = 1, 7


def varint(n):
    out = bytearray()
    n &= (1 << 64) - 1
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out + bytes([n]))


def number(field, n):
    return varint(field << 3) + varint(n)


def block(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def attribute(name, value):
    out = block(1, name)
    if isinstance(value, float):
        return out + varint(2 << 3 | 5) + struct.pack("<f", value) + number(20, 1)
    if isinstance(value, int):
        return out + number(3, value) + number(20, 2)
    return out + b"".join(number(8, v) for v in value) + number(20, 7)


def tensor(name, kind, shape, raw):
    return b"".join(number(1, d) for d in shape) + number(2, kind) + block(8, name) + block(9, raw)


def value_info(name, shape):
    dims = b"".join(block(1, block(2, d) if isinstance(d, str) else number(1, d)) for d in shape)
    return block(1, name) + block(2, block(1, number(1, FLOAT) + block(2, dims)))


class Model:
    def __init__(self):
        self.nodes, self.initializers = [], []
        self.random = random.Random(7)
        self.parameters = 0

    def weight(self, name, *shape, value=None):
        count = 1
        for d in shape:
            count *= d
        fan_in = max(1, count // shape[0] if len(shape) > 2 else shape[0])
        scale = (2 / fan_in) ** 0.5
        numbers = [value if value is not None else self.random.gauss(0, scale) for _ in range(count)]
        self.initializers.append(tensor(name, FLOAT, shape, struct.pack(f"<{count}f", *numbers)))
        self.parameters += count
        return name

    def integers(self, name, values, scalar=False):
        shape = [] if scalar else [len(values)]
        self.initializers.append(tensor(name, INT64, shape, struct.pack(f"<{len(values)}q", *values)))
        return name

    def scalar(self, name, value):
        self.initializers.append(tensor(name, FLOAT, [], struct.pack("<f", value)))
        return name

    def op(self, kind, name, inputs, outputs=None, **attributes):
        outputs = outputs or [name + "_out"]
        body = b"".join(block(1, i) for i in inputs) + b"".join(block(2, o) for o in outputs)
        body += block(3, name) + block(4, kind)
        body += b"".join(block(5, attribute(k, v)) for k, v in sorted(attributes.items()))
        self.nodes.append(body)
        return outputs[0] if len(outputs) == 1 else outputs

    def conv(self, name, x, cin, cout, stride):
        w, b = self.weight(f"{name}.weight", cout, cin, 3, 3), self.weight(f"{name}.bias", cout, value=0.0)
        return self.op("Conv", f"/{name}/Conv", [x, w, b], kernel_shape=[3, 3], pads=[1, 1, 1, 1],
                       strides=[stride, stride], dilations=[1, 1], group=1)

    def linear(self, name, x, din, dout):
        y = self.op("MatMul", f"/{name}/MatMul", [x, self.weight(f"{name}.weight", din, dout)])
        return self.op("Add", f"/{name}/Add", [y, self.weight(f"{name}.bias", dout, value=0.0)])

    def norm(self, name, x, d):
        scale, shift = self.weight(f"{name}.weight", d, value=1.0), self.weight(f"{name}.bias", d, value=0.0)
        return self.op("LayerNormalization", f"/{name}/LayerNormalization", [x, scale, shift], axis=-1, epsilon=1e-5)


def build():
    m, d, heads, tokens = Model(), 64, 4, 64
    relu = lambda name, x: m.op("Relu", f"/{name}/Relu", [x])
    x = relu("stem.0", m.conv("stem.0", "image", 3, 16, 2))
    x = relu("stem.1", m.conv("stem.1", x, 16, 32, 2))
    y = relu("stage.0", m.conv("stage.0", x, 32, 32, 1))
    x = relu("stage.2", m.op("Add", "/stage/Add", [x, m.conv("stage.1", y, 32, 32, 1)]))
    x = m.conv("patch", x, 32, d, 2)
    shape = m.op("Shape", "/tokens/Shape", [x])
    batch = m.op("Gather", "/tokens/Gather", [shape, m.integers("first", [0], scalar=True)], axis=0)
    batch = m.op("Unsqueeze", "/tokens/Unsqueeze", [batch, m.integers("axis0", [0])])
    target = m.op("Concat", "/tokens/Concat", [batch, m.integers("rest", [d, -1])], axis=0)
    x = m.op("Transpose", "/tokens/Transpose", [m.op("Reshape", "/tokens/Reshape", [x, target])], perm=[0, 2, 1])
    x = m.op("Add", "/position/Add", [x, m.weight("position", 1, tokens, d)])

    y = m.norm("block.norm1", x, d)
    parts = m.op("Split", "/block/attention/Split",
                 [m.linear("block.attention.qkv", y, d, 3 * d), m.integers("thirds", [d, d, d])],
                 ["q", "k", "v"], axis=2)
    split = m.integers("split_heads", [0, tokens, heads, d // heads])
    q, k, v = (m.op("Transpose", f"/block/attention/Transpose_{n}",
                    [m.op("Reshape", f"/block/attention/Reshape_{n}", [p, split])],
                    perm=[0, 2, 3, 1] if n == "k" else [0, 2, 1, 3]) for n, p in zip("qkv", parts))
    scores = m.op("MatMul", "/block/attention/MatMul_scores", [q, k])
    scores = m.op("Mul", "/block/attention/Mul", [scores, m.scalar("scale", (d // heads) ** -0.5)])
    scores = m.op("Softmax", "/block/attention/Softmax", [scores], axis=-1)
    y = m.op("Transpose", "/block/attention/Transpose", [m.op("MatMul", "/block/attention/MatMul", [scores, v])],
             perm=[0, 2, 1, 3])
    y = m.op("Reshape", "/block/attention/Reshape", [y, m.integers("join_heads", [0, tokens, d])])
    x = m.op("Add", "/block/Add", [x, m.linear("block.attention.out", y, d, d)])
    y = m.linear("block.mlp.0", m.norm("block.norm2", x, d), d, 4 * d)
    erf = m.op("Erf", "/block/mlp/Erf", [m.op("Div", "/block/mlp/Div", [y, m.scalar("root2", 2 ** 0.5)])])
    gate = m.op("Add", "/block/mlp/Add", [erf, m.scalar("one", 1.0)])
    y = m.op("Mul", "/block/mlp/Mul_1", [m.op("Mul", "/block/mlp/Mul", [y, gate]), m.scalar("half", 0.5)])
    x = m.op("Add", "/block/Add_1", [x, m.linear("block.mlp.2", y, 4 * d, d)])

    x = m.op("ReduceMean", "/pool/ReduceMean", [m.norm("norm", x, d)], axes=[1], keepdims=0)
    m.op("Gemm", "/head/Gemm", [x, m.weight("head.weight", 10, d), m.weight("head.bias", 10, value=0.0)], ["logits"],
         transB=1)
    graph = b"".join(block(1, n) for n in m.nodes) + block(2, "pocket-vit")
    graph += b"".join(block(5, t) for t in m.initializers)
    graph += block(11, value_info("image", ["batch", 3, 64, 64])) + block(12, value_info("logits", ["batch", 10]))
    model = number(1, 8) + block(2, "orrery") + block(7, graph) + block(8, block(1, "") + number(2, 17))
    return model, m.parameters


if __name__ == "__main__":
    path = sys.argv[1] if len(sys.argv) > 1 else "pocket-vit.onnx"
    data, parameters = build()
    with open(path, "wb") as file:
        file.write(data)
    print(f"{path}: {len(data)} bytes, {parameters} parameters")
