// Adam (networks/adam.h) on shuffled batches, in one thread and single precision: the same seed gives the same bits.

#include "base/random.h"
#include "learning/network.h"
#include "learning/networks/adam.h"
#include "learning/trainers.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

namespace orrery {

namespace {

constexpr double usualRate = 0.004;

// Parameters of all layers one after another: weights, then bias.
struct Layout {
    std::vector<std::size_t> widths, weights, bias;  // widths has one more entry: the inputs
    std::size_t size = 0;
};
Layout layoutOf(std::size_t inputs, const TrainingOptions& options) {
    Layout layout;
    layout.widths.push_back(inputs);
    layout.widths.insert(layout.widths.end(), std::size_t(options.layers), std::size_t(options.width));
    layout.widths.push_back(1);
    for (std::size_t l = 0; l + 1 < layout.widths.size(); ++l) {
        layout.weights.push_back(layout.size);
        layout.size += layout.widths[l] * layout.widths[l + 1];
        layout.bias.push_back(layout.size);
        layout.size += layout.widths[l + 1];
    }
    return layout;
}

float dot(const float* a, const float* b, std::size_t size) {
    float part[8] = {};
    std::size_t i = 0;
    for (; i + 8 <= size; i += 8) {
        for (std::size_t lane = 0; lane < 8; ++lane) part[lane] += a[i + lane] * b[i + lane];
    }
    float sum = 0;
    for (const float lane : part) sum += lane;
    for (; i < size; ++i) sum += a[i] * b[i];
    return sum;
}

class Trainer {
public:
    Trainer(const Layout& layout, std::uint64_t seed)
        : layout_(layout), parameters_(layout.size), slopes_(layout.size) {
        RandomStream random(seed, 1);
        for (std::size_t l = 0; l < layout_.weights.size(); ++l) {
            const double spread = std::sqrt(2.0 / double(layout_.widths[l]));  // He et al., ICCV 2015
            for (std::size_t i = layout_.weights[l]; i < layout_.bias[l]; ++i) {
                parameters_[i] = float(spread * random.normal());
            }
        }
        for (const std::size_t width : layout_.widths) {
            before_.emplace_back(width);
            after_.emplace_back(width);
            back_.emplace_back(width);
        }
    }

    float forward(const float* input) {
        std::copy(input, input + layout_.widths[0], after_[0].begin());
        for (std::size_t l = 0; l < layout_.weights.size(); ++l) {
            const std::size_t outputs = layout_.widths[l + 1];
            float* sum = before_[l + 1].data();
            std::copy_n(&parameters_[layout_.bias[l]], outputs, sum);
            const float* weight = &parameters_[layout_.weights[l]];
            for (std::size_t i = 0; i < layout_.widths[l]; ++i, weight += outputs) {
                const float x = after_[l][i];
                for (std::size_t o = 0; o < outputs; ++o) sum[o] += x * weight[o];
            }
            for (std::size_t o = 0; o < outputs; ++o) after_[l + 1][o] = rectify(sum[o]);
        }
        return before_.back()[0];
    }

    /// Adds the slopes of the last forward pass times `error`.
    void backward(float error) {
        back_.back()[0] = error;
        for (std::size_t l = layout_.weights.size(); l-- > 0;) {
            const std::size_t outputs = layout_.widths[l + 1];
            const float* out = back_[l + 1].data();
            for (std::size_t o = 0; o < outputs; ++o) slopes_[layout_.bias[l] + o] += out[o];
            for (std::size_t i = 0; i < layout_.widths[l]; ++i) {
                const std::size_t row = layout_.weights[l] + i * outputs;
                float* slope = &slopes_[row];
                const float x = after_[l][i];
                for (std::size_t o = 0; o < outputs; ++o) slope[o] += x * out[o];
                if (l > 0) back_[l][i] = dot(&parameters_[row], out, outputs) * rectifySlope(before_[l][i]);
            }
        }
    }

    void step(float rate, float decay, float share) { adam_.step(parameters_, slopes_, rate, decay, share); }

    std::vector<float>& parameters() { return parameters_; }

private:
    Layout layout_;
    std::vector<float> parameters_, slopes_;
    Adam<float> adam_;
    std::vector<std::vector<float>> before_, after_, back_;  // sums, rectified sums, slopes of the sums
};

// Mean and standard deviation of each feature and of the target, and the rows in these units.
struct Standardised {
    NetworkWeights weights;
    std::vector<float> inputs, targets;
};
Standardised standardise(const TrainingData& data) {
    const std::size_t rows = data.rows(), columns = data.columns();
    Standardised out;
    const auto spread = [&](auto&& at, float& mean, float& scale) {
        double sum = 0, square = 0;
        for (std::size_t r = 0; r < rows; ++r) sum += at(r) / double(rows);
        for (std::size_t r = 0; r < rows; ++r) square += std::pow(at(r) - sum, 2) / double(rows);
        mean = float(rounded(sum));
        scale = std::sqrt(square) > 1e-9 * std::max(1.0, std::abs(sum)) ? float(rounded(std::sqrt(square))) : 0;
    };
    out.weights.mean.resize(columns);
    out.weights.scale.resize(columns);
    for (std::size_t c = 0; c < columns; ++c) {
        spread([&](std::size_t r) { return data.features[r * columns + c]; }, out.weights.mean[c],
               out.weights.scale[c]);
    }
    spread([&](std::size_t r) { return data.target[r]; }, out.weights.targetMean, out.weights.targetScale);
    if (out.weights.targetScale <= 0) out.weights.targetScale = 1;
    out.inputs.resize(rows * columns);
    for (std::size_t i = 0; i < out.inputs.size(); ++i) {
        const std::size_t c = i % columns;
        const float scale = out.weights.scale[c];
        out.inputs[i] = scale > 0 ? (float(data.features[i]) - out.weights.mean[c]) / scale : 0;
    }
    for (const double target : data.target) {
        out.targets.push_back((float(target) - out.weights.targetMean) / out.weights.targetScale);
    }
    return out;
}

std::shared_ptr<const Network> networkOf(const std::vector<float>& parameters, const Layout& layout,
                                         NetworkWeights weights) {
    for (std::size_t l = 0; l < layout.weights.size(); ++l) {
        NetworkLayer& layer = weights.layers.emplace_back();
        layer.inputs = layout.widths[l];
        layer.outputs = layout.widths[l + 1];
        const auto at = [&](std::size_t i) { return float(rounded(double(parameters[i]))); };
        for (std::size_t i = layout.weights[l]; i < layout.bias[l]; ++i) layer.weights.push_back(at(i));
        for (std::size_t o = 0; o < layer.outputs; ++o) layer.bias.push_back(at(layout.bias[l] + o));
    }
    return std::make_shared<const Network>(std::move(weights));
}

double meanAbsolute(const Regressor& model, const TrainingData& data) {
    double sum = 0, weights = 0;
    for (std::size_t r = 0; r < data.rows(); ++r) {
        const double weight = data.weight.empty() ? 1 : data.weight[r];
        const std::span row(&data.features[r * data.columns()], data.columns());
        sum += weight * std::abs(model.predict(row) - data.target[r]);
        weights += weight;
    }
    return weights > 0 ? sum / weights : 0;
}

// Slope of the loss in standard deviations of the target.
float slopeOf(std::string_view loss, float residual) {
    if (loss == "squared") return residual;
    if (loss == "huber") return std::clamp(residual / 0.3f, -1.0f, 1.0f);
    return residual / (std::abs(residual) + 0.02f);
}

}  // namespace

Expected<RegressorPtr> trainNetwork(const TrainingData& data, const TrainingData* validation,
                                    const TrainingOptions& options) {
    const Layout layout = layoutOf(data.columns(), options);
    const Standardised rows = standardise(data);
    Trainer trainer(layout, options.seed);
    RandomStream random(options.seed, 2);
    std::vector<std::size_t> order(data.rows());
    std::iota(order.begin(), order.end(), std::size_t(0));
    const std::size_t batch = std::clamp<std::size_t>(data.rows() / 32, 8, 128);
    const double rate = options.rate > 0 ? options.rate : usualRate;
    const double meanWeight =
        data.weight.empty() ? 1 : std::accumulate(data.weight.begin(), data.weight.end(), 0.0) / double(data.rows());
    const auto start = std::chrono::steady_clock::now();
    std::vector<float> best = trainer.parameters();
    double least = std::numeric_limits<double>::infinity();
    bool stopped = false;
    for (int epoch = 0; epoch < options.steps && !stopped; ++epoch) {
        for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
        double sum = 0;
        for (std::size_t begin = 0; begin < order.size() && !stopped; begin += batch) {
            const std::size_t end = std::min(begin + batch, order.size());
            for (std::size_t i = begin; i < end; ++i) {
                const std::size_t r = order[i];
                const float residual = trainer.forward(&rows.inputs[r * data.columns()]) - rows.targets[r];
                const double weight = data.weight.empty() ? 1 : data.weight[r] / meanWeight;
                sum += weight * double(std::abs(residual));
                trainer.backward(float(weight) * slopeOf(options.loss, residual));
            }
            const double part = (epoch + double(begin) / double(order.size())) / options.steps;
            trainer.step(float(warmedAndCooled(rate, part)), float(1e-3 * options.ridge), 1.0f / float(end - begin));
            stopped = options.stop.stop_requested();
        }
        TrainingPoint point{epoch + 1, sum / double(order.size()) * double(rows.weights.targetScale)};
        if (validation)
            point.validation = meanAbsolute(*networkOf(trainer.parameters(), layout, rows.weights), *validation);
        const double error = validation && options.keepBest ? point.validation : point.training;
        // An epoch cut short has not seen all rows: its sum says nothing.
        if (!stopped && error < least) {
            least = error;
            best = trainer.parameters();
        }
        point.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        if (options.onStep) options.onStep(point);
    }
    const bool keep = stopped || (validation && options.keepBest);
    return networkOf(keep ? best : trainer.parameters(), layout, rows.weights);
}

}  // namespace orrery
