#include "learning/network.h"
#include "learning/networks/tape.h"

#include <Eigen/Core>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>

namespace orrery {
namespace {

template <class Real>
using RowMajor = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class Real>
using Block = Eigen::Map<RowMajor<Real>>;
template <class Real>
using ConstBlock = Eigen::Map<const RowMajor<Real>>;
template <class Real>
using RowVector = Eigen::Matrix<Real, 1, Eigen::Dynamic>;

constexpr double leastVariance = 1e-6;  // of a row that is normalised

Eigen::Index at(std::size_t i) {
    return static_cast<Eigen::Index>(i);
}

}  // namespace

template <class Real>
DenseLayer TapeParameters<Real>::dense(std::size_t inputs, std::size_t outputs, RandomStream& random) {
    const DenseLayer layer{values.size(), inputs, outputs};
    const double spread = std::sqrt(2 / static_cast<double>(inputs));
    for (std::size_t i = 0; i < inputs * outputs; ++i) values.push_back(Real(spread * random.normal()));
    values.resize(values.size() + outputs);
    return layer;
}

void Neighbours::addRange(std::size_t begin, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) add(static_cast<std::uint32_t>(begin + i));
    close();
}

template <class Real>
typename Tape<Real>::Node Tape<Real>::add(Kind kind, std::size_t rows, std::size_t columns, Node a) {
    if (used_ == steps_.size()) steps_.emplace_back();
    Step& step = steps_[used_];
    step.kind = kind;
    step.rows = rows;
    step.columns = columns;
    step.a = a;
    step.value.assign(rows * columns, 0);
    step.slope.assign(rows * columns, 0);
    return used_++;
}

template <class Real>
typename Tape<Real>::Node Tape<Real>::rows(std::size_t columns, std::span<const Real> values) {
    const Node node = add(Kind::Rows, values.size() / columns, columns, 0);
    std::copy(values.begin(), values.end(), steps_[node].value.begin());
    return node;
}

template <class Real>
typename Tape<Real>::Node Tape<Real>::dense(Node x, const DenseLayer& layer) {
    assert(columnsOf(x) == layer.inputs);
    const Node node = add(Kind::Dense, rowsOf(x), layer.outputs, x);
    Step& step = steps_[node];
    step.layer = layer;
    const Real* weights = parameters_->values.data() + layer.at;
    const ConstBlock<Real> in(steps_[x].value.data(), at(step.rows), at(layer.inputs)),
        by(weights, at(layer.inputs), at(layer.outputs));
    const Eigen::Map<const RowVector<Real>> bias(weights + layer.inputs * layer.outputs, at(layer.outputs));
    Block<Real> out(step.value.data(), at(step.rows), at(step.columns));
    out.noalias() = in * by;
    out.rowwise() += bias;
    return node;
}

template <class Real>
typename Tape<Real>::Node Tape<Real>::rectified(Node x) {
    const Node node = add(Kind::Rectified, rowsOf(x), columnsOf(x), x);
    const std::vector<Real>& in = steps_[x].value;
    std::transform(in.begin(), in.end(), steps_[node].value.begin(), [](Real each) { return rectify(each); });
    return node;
}

template <class Real>
typename Tape<Real>::Node Tape<Real>::sum(Node a, Node b) {
    assert(rowsOf(a) == rowsOf(b) && columnsOf(a) == columnsOf(b));
    const Node node = add(Kind::Sum, rowsOf(a), columnsOf(a), a);
    steps_[node].b = b;
    const std::vector<Real>&x = steps_[a].value, &y = steps_[b].value;
    std::transform(x.begin(), x.end(), y.begin(), steps_[node].value.begin(), std::plus<>());
    return node;
}

template <class Real>
typename Tape<Real>::Node Tape<Real>::scaled(Node x, std::span<const Real> factors) {
    assert(factors.size() == steps_[x].value.size());
    const Node node = add(Kind::Scaled, rowsOf(x), columnsOf(x), x);
    Step& step = steps_[node];
    step.kept.assign(factors.begin(), factors.end());
    const std::vector<Real>& in = steps_[x].value;
    std::transform(in.begin(), in.end(), factors.begin(), step.value.begin(), std::multiplies<>());
    return node;
}

template <class Real>
typename Tape<Real>::Node Tape<Real>::normalised(Node x) {
    const Node node = add(Kind::Normalised, rowsOf(x), columnsOf(x), x);
    Step& step = steps_[node];
    step.kept.assign(step.rows, 0);  // 1 ÷ deviation
    const ConstBlock<Real> in(steps_[x].value.data(), at(step.rows), at(step.columns));
    Block<Real> out(step.value.data(), at(step.rows), at(step.columns));
    for (Eigen::Index r = 0; r < in.rows(); ++r) {
        const Real mean = in.row(r).mean();
        out.row(r).array() = in.row(r).array() - mean;
        const Real by = 1 / std::sqrt(out.row(r).squaredNorm() / static_cast<Real>(step.columns) + Real(leastVariance));
        out.row(r) *= by;
        step.kept[static_cast<std::size_t>(r)] = by;
    }
    return node;
}

template <class Real>
typename Tape<Real>::Node Tape<Real>::gather(Kind kind, Node x, const Neighbours& by) {
    const Node node = add(kind, by.rows(), columnsOf(x), x);
    Step& step = steps_[node];
    step.by = &by;
    const ConstBlock<Real> in(steps_[x].value.data(), at(rowsOf(x)), at(step.columns));
    Block<Real> out(step.value.data(), at(step.rows), at(step.columns));
    for (std::size_t r = 0; r < step.rows; ++r) {
        const std::uint32_t begin = by.first[r], end = by.first[r + 1];
        for (std::uint32_t i = begin; i < end; ++i) out.row(at(r)) += in.row(at(by.of[i]));
        if (kind == Kind::Gathered && end > begin) out.row(at(r)) /= static_cast<Real>(end - begin);
    }
    return node;
}

template <class Real>
typename Tape<Real>::Node Tape<Real>::gathered(Node x, const Neighbours& by) {
    return gather(Kind::Gathered, x, by);
}

template <class Real>
typename Tape<Real>::Node Tape<Real>::totalled(Node x, const Neighbours& by) {
    return gather(Kind::Totalled, x, by);
}

template <class Real>
typename Tape<Real>::Node Tape<Real>::attended(Node queries, Node keys, Node values, const Neighbours& by,
                                               std::size_t heads) {
    assert(columnsOf(queries) % heads == 0 && by.rows() == rowsOf(queries));
    const Node node = add(Kind::Attended, rowsOf(queries), columnsOf(queries), queries);
    Step& step = steps_[node];
    step.b = keys;
    step.c = values;
    step.by = &by;
    step.heads = heads;
    step.kept.assign(by.of.size() * heads, 0);  // shares, head by head
    const std::size_t width = step.columns / heads;
    const Real scale = 1 / std::sqrt(static_cast<Real>(width));
    const ConstBlock<Real> q(steps_[queries].value.data(), at(step.rows), at(step.columns)),
        k(steps_[keys].value.data(), at(rowsOf(keys)), at(step.columns)),
        v(steps_[values].value.data(), at(rowsOf(values)), at(step.columns));
    Block<Real> out(step.value.data(), at(step.rows), at(step.columns));
    for (std::size_t h = 0; h < heads; ++h) {
        const Eigen::Index from = at(h * width), wide = at(width);
        for (std::size_t r = 0; r < step.rows; ++r) {
            const std::size_t begin = by.first[r], count = by.first[r + 1] - begin;
            if (count == 0) continue;
            Real* shares = step.kept.data() + h * by.of.size() + begin;
            Real most = -std::numeric_limits<Real>::infinity(), whole = 0;
            for (std::size_t i = 0; i < count; ++i) {
                shares[i] =
                    scale * q.row(at(r)).segment(from, wide).dot(k.row(at(by.of[begin + i])).segment(from, wide));
                most = std::max(most, shares[i]);
            }
            for (std::size_t i = 0; i < count; ++i) whole += shares[i] = std::exp(shares[i] - most);
            for (std::size_t i = 0; i < count; ++i) {
                shares[i] /= whole;
                out.row(at(r)).segment(from, wide) += shares[i] * v.row(at(by.of[begin + i])).segment(from, wide);
            }
        }
    }
    return node;
}

template <class Real>
void Tape<Real>::denseBack(Step& step, std::span<Real> gradient) {
    const DenseLayer& layer = step.layer;
    Step& before = steps_[step.a];
    const ConstBlock<Real> in(before.value.data(), at(step.rows), at(layer.inputs)),
        out(step.slope.data(), at(step.rows), at(layer.outputs)),
        by(parameters_->values.data() + layer.at, at(layer.inputs), at(layer.outputs));
    Block<Real> weights(gradient.data() + layer.at, at(layer.inputs), at(layer.outputs));
    weights.noalias() += in.transpose() * out;
    Eigen::Map<RowVector<Real>> bias(gradient.data() + layer.at + layer.inputs * layer.outputs, at(layer.outputs));
    bias += out.colwise().sum();
    if (before.kind == Kind::Rows) return;
    Block<Real> back(before.slope.data(), at(step.rows), at(layer.inputs));
    back.noalias() += out * by.transpose();
}

template <class Real>
void Tape<Real>::attendedBack(const Step& step) {
    const Neighbours& by = *step.by;
    const std::size_t width = step.columns / step.heads;
    const Real scale = 1 / std::sqrt(static_cast<Real>(width));
    Step &query = steps_[step.a], &key = steps_[step.b], &value = steps_[step.c];
    const ConstBlock<Real> q(query.value.data(), at(step.rows), at(step.columns)),
        k(key.value.data(), at(key.rows), at(step.columns)), v(value.value.data(), at(value.rows), at(step.columns)),
        out(step.slope.data(), at(step.rows), at(step.columns));
    Block<Real> dq(query.slope.data(), at(step.rows), at(step.columns)),
        dk(key.slope.data(), at(key.rows), at(step.columns)), dv(value.slope.data(), at(value.rows), at(step.columns));
    std::vector<Real> pulls;
    for (std::size_t h = 0; h < step.heads; ++h) {
        const Eigen::Index from = at(h * width), wide = at(width);
        for (std::size_t r = 0; r < step.rows; ++r) {
            const std::size_t begin = by.first[r], count = by.first[r + 1] - begin;
            const Real* shares = step.kept.data() + h * by.of.size() + begin;
            const auto slope = out.row(at(r)).segment(from, wide);
            pulls.assign(count, 0);
            Real mean = 0;
            for (std::size_t i = 0; i < count; ++i) {
                const Eigen::Index row = at(by.of[begin + i]);
                pulls[i] = slope.dot(v.row(row).segment(from, wide));
                mean += shares[i] * pulls[i];
                dv.row(row).segment(from, wide) += shares[i] * slope;
            }
            for (std::size_t i = 0; i < count; ++i) {
                const Eigen::Index row = at(by.of[begin + i]);
                const Real pull = scale * shares[i] * (pulls[i] - mean);
                dq.row(at(r)).segment(from, wide) += pull * k.row(row).segment(from, wide);
                dk.row(row).segment(from, wide) += pull * q.row(at(r)).segment(from, wide);
            }
        }
    }
}

template <class Real>
void Tape<Real>::backward(Node of, std::span<const Real> slopes, std::span<Real> gradient) {
    for (Node node = 0; node <= of; ++node) std::fill(steps_[node].slope.begin(), steps_[node].slope.end(), Real(0));
    std::copy(slopes.begin(), slopes.end(), steps_[of].slope.begin());
    for (Node node = of + 1; node-- > 0;) {
        Step& step = steps_[node];
        switch (step.kind) {
            case Kind::Rows:
                break;
            case Kind::Dense:
                denseBack(step, gradient);
                break;
            case Kind::Rectified: {
                Step& before = steps_[step.a];
                for (std::size_t i = 0; i < step.slope.size(); ++i)
                    before.slope[i] += step.slope[i] * rectifySlope(before.value[i]);
                break;
            }
            case Kind::Sum:
                for (const Node each : {step.a, step.b})
                    for (std::size_t i = 0; i < step.slope.size(); ++i) steps_[each].slope[i] += step.slope[i];
                break;
            case Kind::Scaled:
                for (std::size_t i = 0; i < step.slope.size(); ++i)
                    steps_[step.a].slope[i] += step.slope[i] * step.kept[i];
                break;
            case Kind::Normalised: {
                const ConstBlock<Real> y(step.value.data(), at(step.rows), at(step.columns)),
                    out(step.slope.data(), at(step.rows), at(step.columns));
                Block<Real> back(steps_[step.a].slope.data(), at(step.rows), at(step.columns));
                for (std::size_t r = 0; r < step.rows; ++r) {
                    const Real mean = out.row(at(r)).mean(),
                               along = out.row(at(r)).dot(y.row(at(r))) / static_cast<Real>(step.columns);
                    back.row(at(r)).array() +=
                        step.kept[r] * (out.row(at(r)).array() - mean - along * y.row(at(r)).array());
                }
                break;
            }
            case Kind::Gathered:
            case Kind::Totalled: {
                const ConstBlock<Real> out(step.slope.data(), at(step.rows), at(step.columns));
                Block<Real> back(steps_[step.a].slope.data(), at(steps_[step.a].rows), at(step.columns));
                for (std::size_t r = 0; r < step.rows; ++r) {
                    const std::uint32_t begin = step.by->first[r], end = step.by->first[r + 1];
                    const Real share = step.kind == Kind::Gathered ? 1 / static_cast<Real>(end - begin) : 1;
                    for (std::uint32_t i = begin; i < end; ++i) back.row(at(step.by->of[i])) += share * out.row(at(r));
                }
                break;
            }
            case Kind::Attended:
                attendedBack(step);
                break;
        }
    }
}

template struct TapeParameters<float>;
template struct TapeParameters<double>;
template class Tape<float>;
template class Tape<double>;

}  // namespace orrery
