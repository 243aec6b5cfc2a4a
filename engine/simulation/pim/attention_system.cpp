#include "simulation/pim/attention_system.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

namespace orrery::pim {

namespace {

struct Model {
    std::string_view name;
    int layers;
    double width;
    int heads;
    double feedForward;  ///< of the width
    enum : std::uint8_t { Gelu, Relu, Gated } activation;
};
// AttAcc's table of models (its configuration; GPT-3, Llama, Megatron-Turing, OPT papers).
constexpr Model models[] = {
    {"GPT-175B", 96, 12288, 96, 4, Model::Gelu},        {"GPT-89B", 48, 12288, 96, 4, Model::Gelu},
    {"GPT-13B", 40, 5120, 40, 4, Model::Gelu},          {"LLAMA-7B", 32, 4096, 32, 8.0 / 3, Model::Gated},
    {"LLAMA-65B", 80, 8192, 64, 8.0 / 3, Model::Gated}, {"MT-76B", 60, 10240, 40, 4, Model::Gelu},
    {"MT-146B", 80, 12288, 80, 4, Model::Gelu},         {"MT-310B", 96, 16384, 128, 4, Model::Gelu},
    {"MT-530B", 105, 20480, 128, 4, Model::Gelu},       {"MT-1008B", 128, 25600, 160, 4, Model::Gelu},
    {"OPT-66B", 64, 9216, 72, 4, Model::Relu},
};

constexpr double unlimited = std::numeric_limits<double>::infinity();

/// Bytes, operations and seconds; per device.
struct Processor {
    bool gpu = true;
    int cores;
    double flops, bandwidth, secondLevelBandwidth, firstLevel, secondLevel, link;
};
// NVIDIA's A100 and H100 white papers with HBM3 at 3,352 GB/s, and the hosts of their DGX systems, as AttAcc states
// them.
struct Machine {
    std::string_view name;
    Processor gpu, cpu;
};
constexpr Machine machines[] = {
    {"A100a",
     {true, 108, 312e12, 3352e9, unlimited, 192.0 * 1024, 40.0 * 1048576, 600e9},
     {false, 64, 4e12, 200e9, unlimited, 96.0 * 1024, 256.0 * 1048576, 256e9}},
    {"H100",
     {true, 132, 989.4e12, 3352e9, unlimited, 256.0 * 1024, 50.0 * 1048576, 900e9},
     {false, 56, 4e12, 563.2e9, 5.5e12, 48.0 * 1024, 2.0 * 1048576, 512e9}},
};
constexpr double reachableCompute = 0.8, reachableBandwidth = 0.85;
constexpr int stacksPerDevice = 5;
constexpr double stackBandwidth = 670.4e9, pimLink = 600e9;

// How many times the stack's own bandwidth the multipliers see.
double gainOf(UnitPlace place, bool capped) {
    if (place == UnitPlace::Buffer) return 1;
    if (place == UnitPlace::BankGroup) return capped ? 3 : 8;
    return capped ? 9 : 16;
}

// Picojoules per byte, of `alu` per multiply-add, as AttAcc states them: cells and lines of fine-grained DRAM (O'Connor
// et al., MICRO 2017: 0.11 + 0.44 + 1.01 + 1.23 + 0.5 + 0.3 pJ a bit from the cell to the GPU), caches and registers,
// links.
namespace energy {
constexpr double cell = 0.11 + 0.44, columns = 1.01, groups = 1.23, via = 0.5, interposer = 0.3, bits = 8;
constexpr double gpuMemory = (cell + columns + groups + via + interposer) * bits;
constexpr double secondLevel = 0.3 * bits, firstLevel = 0.16 * bits, registers = 0.0675, alu = 0.32, link = 10.4;
constexpr double softmaxBuffer = 0.0034;
// From the cells to the multipliers.
constexpr double pimMemory(UnitPlace place) {
    if (place == UnitPlace::Bank) return cell * bits;
    if (place == UnitPlace::BankGroup) return (cell + columns) * bits;
    return (cell + columns + groups + via) * bits;
}
}  // namespace energy
// Stacks of multipliers beside the GPUs, whatever their number.
constexpr int pimDevices = 8;

enum class Kind : std::uint8_t { Product, Attention, Softmax, Activation, Norm, BetweenGpus, ToAttention };

struct Layer {
    enum class Name : std::uint8_t {
        Qkv,
        Send,
        Score,
        Softmax,
        Context,
        Projection,
        Reduce,
        Norm,
        FeedForward,
        Activation
    };
    Name name;
    Kind kind;
    double m, n, k, copies;
    int bytes;
    Model activationOf{};
    double seconds = 0;
    bool computeBound = false;
    double memoryEnergy = 0, computeEnergy = 0, linkEnergy = 0;  ///< pJ of all devices

    double flops() const {
        switch (kind) {
            case Kind::Softmax:
            case Kind::Norm:
                return 5 * m * n * copies;
            case Kind::Activation:
                return (activationOf.activation == Model::Relu    ? 1
                        : activationOf.activation == Model::Gated ? 9
                                                                  : 8) *
                       m * n * copies;
            case Kind::Product:
            case Kind::Attention:
                return 2 * m * n * k * copies;
            default:
                return 0;
        }
    }
    double elementwiseBytes() const {
        const double one = m * n * copies * bytes;
        const bool two = kind == Kind::Norm || (kind == Kind::Activation && activationOf.activation == Model::Gated);
        return two ? 3 * one : 2 * one;
    }
};

class Roofline {
public:
    explicit Roofline(const Processor& processor) : p_(processor) {}

    void price(Layer& layer) {
        const double compute = computeTime(layer), memory = memoryTime(layer);
        layer.computeBound = compute > memory;
        layer.seconds = std::max(compute, memory);
        charge(layer);
    }

private:
    // Of one processor: bytes of each level and operations. A CPU's are not known.
    void charge(Layer& l) {
        if (!p_.gpu) return;
        const bool product = l.kind == Kind::Product || l.kind == Kind::Attention;
        const double all = l.elementwiseBytes();
        const Tile tile = product ? tileOf(l) : Tile{};
        l.memoryEnergy = (product ? traffic(l, tile.l2m, tile.l2n) : all) * energy::gpuMemory;
        l.computeEnergy = (product ? traffic(l, tile.l1m, tile.l1n) : all) * energy::secondLevel +
                          (product ? traffic(l, 16, 16) : all) * energy::firstLevel +
                          (product ? 3 * l.m * l.n * l.k : all) * energy::registers + l.flops() / 2 * energy::alu;
    }

    struct Tile {
        double l1m = 0, l1n = 0, l2m = 0, l2n = 0;
    };

    static double traffic(const Layer& l, double tm, double tn) {
        return (std::ceil(l.n / tn) * l.m * l.k + std::ceil(l.m / tm) * l.n * l.k + l.m * l.n) * l.bytes * l.copies;
    }
    // Thread blocks fill the cores in waves.
    double used(const Layer& l, const Tile& t) const {
        if (!p_.gpu) return 1;
        return waves(l.kind == Kind::Product ? std::ceil(l.m / t.l1m) * std::ceil(l.n / t.l1n) * l.copies : l.copies);
    }
    double waves(double blocks) const { return blocks / (std::ceil(blocks / p_.cores) * p_.cores); }

    const Tile& tileOf(const Layer& l) {
        const auto key = std::make_tuple(l.m, l.n, l.k, l.copies, l.bytes);
        const auto [at, fresh] = tiles_.try_emplace(key);
        Tile& best = at->second;
        if (!fresh) return best;
        constexpr double sizes[] = {8, 16, 32, 64, 128, 192, 256, 320, 384, 448, 512};
        double least = unlimited;
        for (const double a : sizes)
            for (const double b : sizes) {
                const double tm = std::min(a, l.m), tn = std::min(b, l.n);
                if ((tm + tn) * 32 * l.bytes + tm * tn * l.bytes > p_.firstLevel) continue;
                const double blocks =
                    l.kind == Kind::Product ? std::ceil(l.m / tm) * std::ceil(l.n / tn) * l.copies : l.copies;
                const double cost = traffic(l, tm, tn) / (waves(blocks) * waves(blocks));
                if (cost < least) least = cost, best.l1m = tm, best.l1n = tn;
            }
        // The second level's tile is whole first-level tiles, or the matrix; its depth was found by experiment there.
        const double depth = l.k / 64;
        least = unlimited;
        const auto choices = [](double all, double step) {
            std::vector<double> out;
            for (double i = 1; i <= std::floor(all / step); ++i) out.push_back(std::min(step * i, all));
            out.push_back(all);
            return out;
        };
        const auto rows = choices(l.m, best.l1m), columns = choices(l.n, best.l1n);
        for (const double tm : rows)
            for (const double tn : columns) {
                if ((tm + tn) * depth * l.bytes + tm * tn * l.bytes > p_.secondLevel &&
                    (tm != best.l1m || tn != best.l1n))
                    continue;
                const double access =
                    (std::ceil(l.m / tm) * l.n * l.k + std::ceil(l.n / tn) * l.m * l.k + l.m * l.n) * l.bytes;
                if (access < least) least = access, best.l2m = tm, best.l2n = tn;
            }
        return best;
    }
    double computeTime(const Layer& l) {
        return l.flops() /
               (p_.flops * reachableCompute * used(l, l.kind == Kind::Product ? tileOf(l) : Tile{}) * (2 / l.bytes));
    }
    double memoryTime(const Layer& l) {
        // Fits of kernels on an A100 of 1,555 GB/s, in microseconds per byte and a launch.
        const double slower = 1555e9 / p_.bandwidth;
        if (p_.gpu && l.kind == Kind::Activation) return (0.000000447 * slower * l.elementwiseBytes() + 8.29) * 1e-6;
        if (p_.gpu && l.kind == Kind::Norm) return (0.0000016 * slower * l.elementwiseBytes() + 6.87) * 1e-6;
        const bool product = l.kind == Kind::Product || l.kind == Kind::Attention;
        const Tile tile = product ? tileOf(l) : Tile{};
        const double far = product ? traffic(l, tile.l2m, tile.l2n) : l.elementwiseBytes();
        const double near = product ? traffic(l, tile.l1m, tile.l1n) : l.elementwiseBytes();
        return std::max(far / (p_.bandwidth * reachableBandwidth * used(l, tile)), near / p_.secondLevelBandwidth);
    }

    const Processor& p_;
    std::map<std::tuple<double, double, double, double, int>, Tile> tiles_;
};

class Decoder {
public:
    Decoder(const AttentionSystem& s, const HbmPim& stack, const Model& model, const Machine& machine)
        : s_(s),
          stack_(stack),
          model_(model),
          machine_(machine),
          gpu_(machine.gpu),
          cpu_(machine.cpu),
          gpus_(s.attention == AttentionSystem::Where::Cpu ? 8 : s.gpus) {}

    Expected<AttentionSystemAnswer> run() {
        AttentionSystemAnswer out;
        auto prompt = layersOf(true, double(s_.promptLength), double(s_.promptLength));
        for (auto& layer : prompt)
            if (auto priced = price(layer, true); !priced) return tl::unexpected(priced.error());
        add(out.prompt, prompt, 1, true);
        const auto tokens = s_.outputLength - 1;
        for (std::int64_t i = 1; i <= tokens; ++i) {
            auto layers = layersOf(false, 1, double(s_.promptLength + i));
            for (auto& layer : layers)
                if (auto priced = price(layer, false); !priced) return tl::unexpected(priced.error());
            charge(out.energy, layers, 1.0 / double(tokens));
            for (const auto& layer : layers) out.tokenFlops += layer.flops() * gpus_ * model_.layers / double(tokens);
            if (s_.attention == AttentionSystem::Where::Pim) {
                hide(layers);
                if (s_.sharedFeedForward) share(layers);
            }
            add(out.token, layers, 1.0 / double(tokens), false);
        }
        out.requiredBytes = memory();
        return out;
    }

private:
    std::vector<Layer> layersOf(bool prompt, double queries, double keys) const {
        using N = Layer::Name;
        const double tokens = double(s_.batch) * queries, part = std::floor(model_.width / gpus_);
        const double heads = std::floor(double(model_.heads) / gpus_) * double(s_.batch),
                     headSize = std::floor(model_.width / model_.heads);
        const double wide = model_.feedForward * part;
        const bool away = s_.attention != AttentionSystem::Where::Gpu;
        std::vector<Layer> out;
        const auto put = [&](N name, Kind kind, double m, double n, double k, double copies = 1) {
            out.push_back({name, kind, m, n, k, copies, s_.elementBytes, model_});
        };
        put(N::Qkv, Kind::Product, tokens, 3 * part, model_.width);
        if (away) put(N::Send, Kind::ToAttention, tokens, (prompt ? 2 : 3) * part, 1);
        put(N::Score, Kind::Attention, queries, keys, headSize, heads);
        put(N::Softmax, Kind::Softmax, queries, keys, 1, heads);
        put(N::Context, Kind::Attention, queries, headSize, keys, heads);
        if (away && !prompt) put(N::Send, Kind::ToAttention, 1, headSize, 1, heads);
        put(N::Projection, Kind::Product, tokens, model_.width, part);
        put(N::Reduce, Kind::BetweenGpus, tokens, model_.width, 1);
        put(N::Norm, Kind::Norm, tokens, model_.width, 1);
        put(N::FeedForward, Kind::Product, tokens, wide, model_.width);
        if (model_.activation == Model::Gated) put(N::FeedForward, Kind::Product, tokens, wide, model_.width);
        put(N::Activation, Kind::Activation, tokens, wide, 1);
        put(N::FeedForward, Kind::Product, tokens, model_.width, wide);
        put(N::Reduce, Kind::BetweenGpus, tokens, model_.width, 1);
        put(N::Norm, Kind::Norm, tokens, model_.width, 1);
        return out;
    }

    Expected<void> price(Layer& l, bool prompt) {
        const bool away = !prompt && s_.attention != AttentionSystem::Where::Gpu;
        const double bytes = l.m * l.n * l.copies * l.bytes;
        if (l.kind == Kind::ToAttention) {
            const double link = prompt                                        ? machine_.gpu.link
                                : s_.attention == AttentionSystem::Where::Pim ? pimLink
                                                                              : machine_.cpu.link;
            l.seconds = bytes / (link / 2);
            if (s_.attention == AttentionSystem::Where::Pim) l.linkEnergy = bytes * energy::link * pimDevices;
        } else if (l.kind == Kind::BetweenGpus) {
            // NVLink as interpolated there: a ring of steps with a start of 6 us each.
            const double piece = bytes / gpus_;
            const double step = piece == 0 ? 1
                                           : std::max((6060 + 0.009 * piece * (600e9 / machine_.gpu.link)) * 1e-9,
                                                      piece / (machine_.gpu.link / 2));
            l.seconds = step * (gpus_ - 1);
            l.linkEnergy = gpus_ * bytes * energy::link;
        } else if (away && s_.attention == AttentionSystem::Where::Pim && l.kind == Kind::Attention) {
            if (l.name != Layer::Name::Score) return {};  // the stack answers for the whole of attention
            const Attention attention{std::int64_t(l.n), std::int64_t(std::ceil(l.copies / stacksPerDevice)),
                                      std::int64_t(l.k), l.bytes};
            const auto answer = attentionOn(stack_, s_.place, s_.powerCapped, attention);
            if (!answer) return tl::unexpected(answer.error());
            l.seconds = answer->seconds;
            l.memoryEnergy = stackEnergy(answer->commands) * stacksPerDevice * pimDevices;
            // Only the scores are counted, as AttAcc does.
            l.computeEnergy = l.flops() / 2 * energy::alu * pimDevices;
        } else if (away && s_.attention == AttentionSystem::Where::Pim && l.kind == Kind::Softmax) {
            const double rate = stackBandwidth * stacksPerDevice;
            l.seconds = std::max(l.flops() / (rate * (2 / l.bytes)), l.elementwiseBytes() / rate);
            l.memoryEnergy = l.elementwiseBytes() * energy::softmaxBuffer * pimDevices;
            l.computeEnergy = l.flops() / 2 * energy::alu * pimDevices;
        } else if (away && (l.kind == Kind::Attention || l.kind == Kind::Softmax)) {
            cpu_.price(l);
        } else {
            gpu_.price(l);
            l.memoryEnergy *= gpus_, l.computeEnergy *= gpus_;
        }
        return {};
    }

    // pJ of one stack: what its multipliers read, and what moves between them and the buffer die. AttAcc prices moves
    // by the figure of a bit for each byte.
    double stackEnergy(const PimCommands& c) const {
        const double column = stack_.columnBytes, read = static_cast<double>(c.multiply) * column;
        const double units =
            s_.place == UnitPlace::Bank        ? stack_.pseudoChannels * stack_.ranks * stack_.bankGroups * stack_.banks
            : s_.place == UnitPlace::BankGroup ? stack_.pseudoChannels * stack_.ranks * stack_.bankGroups
                                               : stack_.pseudoChannels;
        const double moved = static_cast<double>(c.write + c.toSoftmax + c.toMultiplier) * column;
        return read * units * energy::pimMemory(s_.place) + moved * (energy::via + energy::groups + energy::columns) +
               static_cast<double>(c.write) * column * energy::interposer;
    }

    void charge(AttentionSystemEnergy& e, const std::vector<Layer>& layers, double share) const {
        const double scale = share * model_.layers / 1000;  // pJ to nJ
        for (const auto& l : layers) {
            const double memory = l.memoryEnergy * scale, compute = l.computeEnergy * scale;
            e.dram += memory;
            e.links += l.linkEnergy * scale;
            e.total += memory + compute + l.linkEnergy * scale;
            if (l.kind == Kind::Product) e.productMemory += memory, e.productCompute += compute;
            if (l.kind == Kind::Attention || l.kind == Kind::Softmax)
                e.attentionMemory += memory, e.attentionCompute += compute;
        }
    }

    // Heads go to the PIM one after the other: what comes before and after hides behind all but the first.
    void hide(std::vector<Layer>& layers) const {
        using N = Layer::Name;
        double qkv = 0, projection = 0, send = 0, attention = 0;
        for (const auto& l : layers) {
            if (l.name == N::Qkv) qkv += l.seconds;
            if (l.name == N::Projection) projection += l.seconds;
            if (l.name == N::Send) send += l.seconds;
            if (l.name == N::Score || l.name == N::Context || l.name == N::Softmax) attention += l.seconds;
        }
        const double first = double(gpus_) / model_.heads, hidden = attention * (1 - first);
        const double products = qkv + projection;
        const auto sendBehind = [&] { send = attention > send ? send * first : send - hidden; };
        if (!s_.pipelined) {
            sendBehind();
        } else if (attention > products) {
            qkv *= first, projection *= first;
            sendBehind();
        } else if (products > send) {
            send *= first;
            qkv -= hidden * 0.75, projection -= hidden * 0.25;
        } else {
            send -= hidden;
            qkv *= first, projection *= first;
        }
        for (auto& l : layers) {
            if (l.name == N::Qkv) l.seconds = qkv;
            if (l.name == N::Projection) l.seconds = projection;
            if (l.name == N::Send) l.seconds = send / 2;
            if (l.name == N::Softmax) l.seconds = 0;
        }
    }

    void share(std::vector<Layer>& layers) const {
        const double own = machine_.gpu.bandwidth;
        const double pim = stackBandwidth * gainOf(s_.place, s_.powerCapped) * stacksPerDevice;
        for (auto& l : layers) {
            if (l.name != Layer::Name::FeedForward) continue;
            l.seconds *= l.computeBound ? machine_.gpu.flops / (machine_.gpu.flops + pim / l.bytes * 2)
                                        : own / (own + pim / double(s_.batch));
        }
    }

    void add(AttentionSystemTimes& t, const std::vector<Layer>& layers, double share, bool prompt) const {
        const double scale = share * model_.layers * 1000;
        for (const auto& l : layers) {
            const double ms = l.seconds * scale;
            // The keys and values of the prompt travel behind its computing.
            if (prompt && l.kind == Kind::ToAttention) continue;
            t.total += ms;
            switch (l.kind) {
                case Kind::Product:
                    t.products += ms;
                    (l.name == Layer::Name::Qkv          ? t.queryKeyValue
                     : l.name == Layer::Name::Projection ? t.projection
                                                         : t.feedForward) += ms;
                    break;
                case Kind::Attention:
                    t.attention += ms;
                    break;
                case Kind::Softmax:
                    t.softmax += ms;
                    break;
                case Kind::Activation:
                    t.activation += ms, t.rest += ms;
                    break;
                case Kind::Norm:
                    t.norm += ms, t.rest += ms;
                    break;
                case Kind::BetweenGpus:
                    t.betweenGpus += ms, t.links += ms;
                    break;
                case Kind::ToAttention:
                    t.toAttention += ms, t.links += ms;
                    break;
            }
        }
    }

    double memory() const {
        const double l = double(s_.promptLength + s_.outputLength - 1), b = s_.elementBytes, w = model_.width;
        const double wide = (model_.activation == Model::Gated ? 3 : 2) * model_.feedForward;
        const double weights = model_.layers * w * (4 * w + wide * w) * b;
        const double scratch = std::max({(w + l * model_.heads) * b, w * 2 * b, l * model_.heads * 2 * b,
                                         (model_.feedForward * w + w) * b}) +
                               l * model_.heads;
        return weights + (model_.layers * 2 * l * w * b + scratch) * double(s_.batch);
    }

    const AttentionSystem& s_;
    const HbmPim& stack_;
    const Model& model_;
    const Machine& machine_;
    Roofline gpu_, cpu_;
    int gpus_;
};

template <class T, std::size_t N>
Expected<const T*> named(const T (&list)[N], std::string_view name, std::string_view what) {
    std::string all;
    for (const auto& one : list) {
        if (one.name == name) return &one;
        all += (all.empty() ? "" : ", ") + std::string(one.name);
    }
    return fail("pim.system", fmt::format("there is no {} '{}'", what, name), "one of " + all);
}

}  // namespace

Expected<AttentionSystemAnswer> answerOf(const AttentionSystem& s, const HbmPim& stack) {
    const auto model = named(models, s.model, "model");
    if (!model) return tl::unexpected(model.error());
    const auto machine = named(machines, s.gpu, "GPU");
    if (!machine) return tl::unexpected(machine.error());
    const auto within = [](std::int64_t value, std::int64_t low, std::int64_t high) {
        return value >= low && value <= high;
    };
    if (!within(s.gpus, 1, (*model)->heads) || !within(s.promptLength, 1, 1 << 20) ||
        !within(s.outputLength, 2, 1 << 16) || !within(s.batch, 1, 1 << 16) ||
        (s.elementBytes != 1 && s.elementBytes != 2))
        return fail("pim.system",
                    fmt::format("{} GPUs, {} + {} tokens, batch {}, {} bytes an element", s.gpus, s.promptLength,
                                s.outputLength, s.batch, s.elementBytes),
                    fmt::format("1 to {} GPUs (a head each), prompts of 1 to 2^20, 2 to 65,536 tokens of output, "
                                "batches up to 65,536, 1 or 2 bytes",
                                (*model)->heads));
    return Decoder(s, stack, **model, **machine).run();
}

}  // namespace orrery::pim
