#pragma once

// A small network over sets of rows: nodes of graphs, tokens of sequences. Rows of many sets stand one after another,
// so that a dense layer is one product. What was done is kept on a tape and walked back for the slopes of all
// parameters (reverse-mode differentiation; Griewank and Walther, "Evaluating derivatives", 2nd ed., chapter 3). In one
// thread: the same seed gives the same bits. `Real` is float, or double where slopes are held to differences.

#include "base/random.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace orrery {

/// x · W + b: `inputs` × `outputs` weights, row-major, then `outputs` biases, from `at` on in the parameters.
struct DenseLayer {
    std::size_t at = 0, inputs = 0, outputs = 0;
};

/// Parameters of all layers, one after another.
template <class Real>
struct TapeParameters {
    std::vector<Real> values;
    /// Weights N(0, 2 ÷ inputs) (He et al., ICCV 2015), biases 0.
    DenseLayer dense(std::size_t inputs, std::size_t outputs, RandomStream& random);
};

/// Which rows each row looks at: of[first[r]], …, of[first[r + 1] − 1]. Edges of a graph, a whole sequence, all rows of
/// a set that is read out.
struct Neighbours {
    std::vector<std::uint32_t> first{0}, of;
    std::size_t rows() const { return first.size() - 1; }
    void add(std::uint32_t row) { of.push_back(row); }  ///< to the row that is not yet closed
    void close() { first.push_back(static_cast<std::uint32_t>(of.size())); }
    /// One row more, which looks at `count` rows from `begin` on.
    void addRange(std::size_t begin, std::size_t count);
};

template <class Real>
class Tape {
public:
    using Node = std::size_t;
    explicit Tape(const TapeParameters<Real>& parameters) : parameters_(&parameters) {}
    void clear() { used_ = 0; }  ///< storage is kept

    /// rows × columns, row-major; copied.
    Node rows(std::size_t columns, std::span<const Real> values);
    Node dense(Node x, const DenseLayer& layer);
    Node rectified(Node x);    ///< the smooth rectifier of network.h
    Node sum(Node a, Node b);  ///< of one shape
    /// Each value times its factor, a number that is not learned: rows × columns.
    Node scaled(Node x, std::span<const Real> factors);
    /// Each row to mean 0 and variance 1 (Ba, Kiros and Hinton, "Layer normalization", 2016), without gain.
    Node normalised(Node x);
    /// A row per row of `by`: the mean of the rows that it looks at; 0 where it looks at none. Between layers this is a
    /// graph convolution with the row-normalised adjacency (Kipf and Welling, ICLR 2017), over whole sets a read-out.
    Node gathered(Node x, const Neighbours& by);
    /// The sum of these rows.
    Node totalled(Node x, const Neighbours& by);
    /// Scaled dot-product attention in `heads` parts of the columns (Vaswani et al., NeurIPS 2017) to the rows that
    /// each row looks at: over a whole sequence self-attention, over edges graph attention (Veličković et al., ICLR
    /// 2018, with products for their scores). A row that looks at none gets 0.
    Node attended(Node queries, Node keys, Node values, const Neighbours& by, std::size_t heads);

    std::size_t rowsOf(Node node) const { return steps_[node].rows; }
    std::size_t columnsOf(Node node) const { return steps_[node].columns; }
    std::span<const Real> valuesOf(Node node) const { return steps_[node].value; }

    /// Adds d(Σ slopes · values of `of`) ÷ d(parameters) to `gradient`. What `Neighbours` were given must still live.
    void backward(Node of, std::span<const Real> slopes, std::span<Real> gradient);

private:
    enum class Kind : std::uint8_t { Rows, Dense, Rectified, Sum, Scaled, Normalised, Gathered, Totalled, Attended };
    struct Step {
        Kind kind = Kind::Rows;
        std::size_t rows = 0, columns = 0, heads = 0;
        Node a = 0, b = 0, c = 0;
        DenseLayer layer;
        const Neighbours* by = nullptr;
        std::vector<Real> value, slope, kept;  ///< kept: what the way back needs beside values
    };
    Node add(Kind kind, std::size_t rows, std::size_t columns, Node a);
    Node gather(Kind kind, Node x, const Neighbours& by);
    void denseBack(Step& step, std::span<Real> gradient);
    void attendedBack(const Step& step);

    const TapeParameters<Real>* parameters_;
    std::vector<Step> steps_;
    std::size_t used_ = 0;
};

}  // namespace orrery
