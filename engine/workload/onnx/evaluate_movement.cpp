#include "workload/onnx/axes.h"
#include "workload/onnx/evaluate.h"
#include "workload/onnx/reader.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace orrery::onnx_import {
namespace {

using Positions = std::vector<std::size_t>;

DataPtr taken(const Data& from, const Positions& positions) {
    auto data = std::make_shared<Data>();
    data->real = from.real;
    if (from.real) {
        for (const std::size_t at : positions) data->reals.push_back(from.reals[at]);
    } else {
        for (const std::size_t at : positions) data->ints.push_back(from.ints[at]);
    }
    return data;
}

/// Positions in a tensor of extents `from` where output index i along axis d reads index origin[d] + i·step[d].
Positions strided(const Extents& from, const Extents& to, const Extents& origin, const Extents& step) {
    const auto strides = stridesOf(from);
    const auto total = static_cast<std::size_t>(count(to).value_or(0));
    Positions positions(total);
    std::vector<std::int64_t> index(to.size(), 0);
    for (std::size_t i = 0; i < total; ++i) {
        std::size_t at = 0;
        for (std::size_t d = 0; d < to.size(); ++d) {
            at += static_cast<std::size_t>(origin[d] + index[d] * step[d]) * strides[d];
        }
        positions[i] = at;
        for (std::size_t d = to.size(); d-- > 0 && ++index[d] == to[d];) index[d] = 0;
    }
    return positions;
}

bool copy(RuleContext& context) {
    context.out[0].data = context.in[0]->data;
    return true;
}

bool gather(RuleContext& context) {
    const Value &x = *context.in[0], &index = *context.in[1];
    if (index.data->real) return false;
    const auto axis = context.axis(context.node.integer("axis", 0), x.rank());
    if (!axis) return false;
    const std::int64_t extent = x.extents[*axis];
    std::size_t outer = 1, inner = 1;
    for (std::size_t d = 0; d < *axis; ++d) outer *= static_cast<std::size_t>(x.extents[d]);
    for (std::size_t d = *axis + 1; d < x.rank(); ++d) inner *= static_cast<std::size_t>(x.extents[d]);
    Positions positions;
    for (std::size_t o = 0; o < outer; ++o) {
        for (const std::int64_t given : index.data->ints) {
            const std::int64_t at = given < 0 ? given + extent : given;
            if (given == unknownElement || at < 0 || at >= extent) return false;
            for (std::size_t i = 0; i < inner; ++i) {
                positions.push_back((o * static_cast<std::size_t>(extent) + static_cast<std::size_t>(at)) * inner + i);
            }
        }
    }
    context.out[0].data = taken(*x.data, positions);
    return true;
}

bool slice(RuleContext& context) {
    const Value& x = *context.in[0];
    const auto starts = listOf(context, 1, "starts");
    auto axes = listOf(context, 3, "axes"), steps = listOf(context, 4, "steps");
    if (!starts || !axes || !steps) return false;
    Extents origin(x.rank(), 0), step(x.rank(), 1);
    for (std::size_t i = 0; i < starts->size(); ++i) {
        const auto axis = context.axis(axes->empty() ? static_cast<std::int64_t>(i) : (*axes)[i], x.rank());
        if (!axis) return false;
        const std::int64_t extent = x.extents[*axis];
        step[*axis] = steps->empty() ? 1 : (*steps)[i];
        const std::int64_t start = (*starts)[i] < -extent ? -extent - 1 : (*starts)[i];
        const std::int64_t low = step[*axis] > 0 ? 0 : -1, high = step[*axis] > 0 ? extent : extent - 1;
        origin[*axis] = std::clamp(start < 0 ? start + extent : start, low, high);
    }
    context.out[0].data = taken(*x.data, strided(x.extents, context.out[0].extents, origin, step));
    return true;
}

bool concat(RuleContext& context) {
    const auto axis = context.axis(context.node.integer("axis", 1), context.out[0].rank());
    if (!axis || !context.in[0]) return false;
    std::size_t outer = 1;
    for (std::size_t d = 0; d < *axis; ++d) outer *= static_cast<std::size_t>(context.out[0].extents[d]);
    auto data = std::make_shared<Data>();
    data->real = context.in[0]->data->real;
    for (std::size_t o = 0; o < outer; ++o) {
        for (const Value* part : context.in) {
            if (!part || part->data->real != data->real) return false;
            const std::size_t size = part->data->size() / outer;
            const auto copyFrom = [&](const auto& from, auto& to) {
                const auto first = from.begin() + static_cast<std::ptrdiff_t>(o * size);
                to.insert(to.end(), first, first + static_cast<std::ptrdiff_t>(size));
            };
            data->real ? copyFrom(part->data->reals, data->reals) : copyFrom(part->data->ints, data->ints);
        }
    }
    context.out[0].data = std::move(data);
    return true;
}

bool split(RuleContext& context) {
    const Value& x = *context.in[0];
    const auto axis = context.axis(context.node.integer("axis", 0), x.rank());
    if (!axis) return false;
    Extents origin(x.rank(), 0);
    const Extents step(x.rank(), 1);
    for (Value& out : context.out) {
        if (origin[*axis] + out.extents[*axis] > x.extents[*axis]) return false;
        out.data = taken(*x.data, strided(x.extents, out.extents, origin, step));
        origin[*axis] += out.extents[*axis];
    }
    return true;
}

bool transpose(RuleContext& context) {
    const Value& x = *context.in[0];
    Extents order = context.node.integers("perm");
    if (order.empty()) {
        for (std::size_t i = x.rank(); i-- > 0;) order.push_back(static_cast<std::int64_t>(i));
    }
    const auto strides = stridesOf(x.extents);
    const Extents& to = context.out[0].extents;
    Positions positions(x.data->size());
    std::vector<std::int64_t> index(to.size(), 0);
    for (std::size_t& position : positions) {
        position = 0;
        for (std::size_t d = 0; d < to.size(); ++d) {
            position += static_cast<std::size_t>(index[d]) *
                        strides[static_cast<std::size_t>(order[d] < 0 ? order[d] + static_cast<std::int64_t>(x.rank())
                                                                      : order[d])];
        }
        for (std::size_t d = to.size(); d-- > 0 && ++index[d] == to[d];) index[d] = 0;
    }
    context.out[0].data = taken(*x.data, positions);
    return true;
}

bool expand(RuleContext& context) {
    const Value& x = *context.in[0];
    context.out[0].data = taken(*x.data, broadcastPositions(x.extents, context.out[0].extents));
    return true;
}

bool tile(RuleContext& context) {
    const Value& x = *context.in[0];
    const Extents& to = context.out[0].extents;
    const auto strides = stridesOf(x.extents);
    Positions positions(static_cast<std::size_t>(count(to).value_or(0)));
    std::vector<std::int64_t> index(to.size(), 0);
    for (std::size_t& position : positions) {
        position = 0;
        for (std::size_t d = 0; d < to.size(); ++d) {
            position += static_cast<std::size_t>(index[d] % x.extents[d]) * strides[d];
        }
        for (std::size_t d = to.size(); d-- > 0 && ++index[d] == to[d];) index[d] = 0;
    }
    context.out[0].data = taken(*x.data, positions);
    return true;
}

bool where(RuleContext& context) {
    const Value &chosen = *context.in[0], &yes = *context.in[1], &no = *context.in[2];
    if (chosen.data->real || yes.data->real != no.data->real) return false;
    const Extents& to = context.out[0].extents;
    const auto at = broadcastPositions(chosen.extents, to), a = broadcastPositions(yes.extents, to),
               b = broadcastPositions(no.extents, to);
    auto data = std::make_shared<Data>();
    data->real = yes.data->real;
    for (std::size_t i = 0; i < at.size(); ++i) {
        const std::int64_t bit = chosen.data->ints[at[i]];
        if (data->real) {
            if (bit == unknownElement) return false;
            data->reals.push_back(bit ? yes.data->reals[a[i]] : no.data->reals[b[i]]);
        } else {
            data->ints.push_back(bit == unknownElement ? unknownElement
                                 : bit                 ? yes.data->ints[a[i]]
                                                       : no.data->ints[b[i]]);
        }
    }
    context.out[0].data = std::move(data);
    return true;
}

bool range(RuleContext& context) {
    const Data &start = *context.in[0]->data, &delta = *context.in[2]->data;
    if (start.real != delta.real) return false;
    const std::int64_t total = context.out[0].extents[0];
    auto data = std::make_shared<Data>();
    data->real = start.real;
    for (std::int64_t i = 0; i < total; ++i) {
        if (start.real) {
            data->reals.push_back(start.reals[0] + static_cast<double>(i) * delta.asReal(0));
        } else {
            std::int64_t value = 0;
            if (__builtin_mul_overflow(i, delta.ints[0], &value) ||
                __builtin_add_overflow(value, start.ints[0], &value)) {
                return false;
            }
            data->ints.push_back(value);
        }
    }
    context.out[0].data = std::move(data);
    return true;
}

bool constantOfShape(RuleContext& context) {
    const auto total = static_cast<std::size_t>(count(context.out[0].extents).value_or(0));
    auto data = std::make_shared<Data>();
    data->real = isFloating(context.out[0].type);
    double real = 0;
    std::int64_t whole = 0;
    if (const auto* given = context.node.attribute("value"); given && given->has_t()) {
        const auto value = readTensor(given->t());
        if (!value || !value->data || value->data->size() != 1 || value->data->real != data->real) return false;
        real = value->data->asReal(0);
        if (!data->real) whole = value->data->ints[0];
    }
    if (data->real) {
        data->reals.assign(total, real);
    } else {
        data->ints.assign(total, whole);
    }
    context.out[0].data = std::move(data);
    return true;
}

bool nonZero(RuleContext& context) {
    const Value& x = *context.in[0];
    const auto strides = stridesOf(x.extents);
    const std::size_t rank = std::max<std::size_t>(x.rank(), 1);
    std::vector<std::vector<std::int64_t>> rows(rank);
    for (std::size_t i = 0; i < x.data->size(); ++i) {
        if (x.data->asReal(i) == 0) continue;
        if (x.rank() == 0) rows[0].push_back(0);
        for (std::size_t d = 0; d < x.rank(); ++d) {
            rows[d].push_back(static_cast<std::int64_t>(i / strides[d]) % x.extents[d]);
        }
    }
    auto data = std::make_shared<Data>();
    for (const auto& row : rows) data->ints.insert(data->ints.end(), row.begin(), row.end());
    context.out[0].data = std::move(data);
    return true;
}

const std::unordered_map<std::string_view, bool (*)(RuleContext&)>& movers() {
    static const std::unordered_map<std::string_view, bool (*)(RuleContext&)> table{
        {"ConstantOfShape", constantOfShape},
        {"Identity", copy},
        {"Reshape", copy},
        {"Squeeze", copy},
        {"Unsqueeze", copy},
        {"Flatten", copy},
        {"Gather", gather},
        {"Slice", slice},
        {"Concat", concat},
        {"Split", split},
        {"Transpose", transpose},
        {"Expand", expand},
        {"Tile", tile},
        {"Where", where},
        {"Range", range},
        {"NonZero", nonZero}};
    return table;
}

}  // namespace

bool evaluateMovement(RuleContext& context, std::string_view type) {
    const auto mover = movers().find(type);
    if (mover == movers().end() || context.in.empty() || !context.in[0]) return false;
    const std::size_t needed = type == "Gather" ? 2 : type == "Where" || type == "Range" ? 3 : 1;
    for (std::size_t i = 0; i < needed; ++i) {
        if (!context.input(i)) return false;
    }
    return mover->second(context);
}

}  // namespace orrery::onnx_import
