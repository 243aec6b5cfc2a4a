#include "methods/soc/tiles.h"

#include "base/maths.h"
#include "hardware/views/spatial_array_view.h"
#include "workload/kernel_parts.h"

#include <algorithm>

namespace orrery {

namespace {

double elementBytes(DType type) {
    return bytesOf(type, 1).value;
}

std::int64_t span(std::int64_t results, std::int64_t window, std::int64_t stride, std::int64_t dilation) {
    return (results - 1) * stride + (window - 1) * dilation + 1;
}
std::int64_t paddingOf(std::int64_t results, std::int64_t extent, std::int64_t window, std::int64_t stride,
                       std::int64_t dilation) {
    return ceilDiv(std::max<std::int64_t>(0, span(results, window, stride, dilation) - extent), 2);
}

// A side in pieces of `size`, the last of them smaller: sizes with how many there are.
struct Pieces {
    struct Kind {
        std::int64_t size, count;
    };
    std::array<Kind, 2> kinds{};
    int used = 0;
    Pieces(std::int64_t extent, std::int64_t size) {
        if (const std::int64_t whole = extent / size; whole > 0) kinds[std::size_t(used++)] = {size, whole};
        if (const std::int64_t rest = extent % size; rest > 0) kinds[std::size_t(used++)] = {rest, 1};
    }
    auto begin() const { return kinds.begin(); }
    auto end() const { return kinds.begin() + used; }
};

void addRuns(std::vector<CopyRuns>& runs, double count, double bytes, double pitch) {
    if (count <= 0 || bytes <= 0) return;
    for (CopyRuns& each : runs) {
        if (each.bytes != bytes || each.pitch != pitch) continue;
        each.count += count;
        return;
    }
    runs.push_back({count, bytes, pitch});
}

// A block of rows × columns × channels out of an image: one run where it lies in one piece.
void addBlock(std::vector<CopyRuns>& runs, double times, double rows, double columns, double channels,
              double allColumns, double allChannels, double element) {
    if (channels < allChannels)
        addRuns(runs, times * rows * columns, channels * element, allChannels * element);
    else if (columns < allColumns)
        addRuns(runs, times * rows, columns * channels * element, allColumns * allChannels * element);
    else
        addRuns(runs, times, rows * columns * channels * element, rows * columns * channels * element);
}

// Tiles at both ends whose windows hang over by lengths of their own: more are not looked at.
constexpr std::int64_t mostEdges = 1024;

struct Side {
    double covered = 0;                                    ///< rows of all tiles, those in two counted twice
    std::vector<std::pair<std::int64_t, double>> lengths;  ///< with how many tiles have each
};
Side inputSide(std::int64_t tile, std::int64_t results, std::int64_t extent, std::int64_t window, std::int64_t stride,
               std::int64_t dilation) {
    Side side;
    const auto add = [&](std::int64_t length, std::int64_t tiles) {
        side.covered += double(length) * double(tiles);
        const auto known = std::ranges::find(side.lengths, length, &std::pair<std::int64_t, double>::first);
        if (known != side.lengths.end())
            known->second += double(tiles);
        else
            side.lengths.emplace_back(length, double(tiles));
    };
    const std::int64_t padding = paddingOf(results, extent, window, stride, dilation);
    const std::int64_t reads = span(tile, window, stride, dilation), step = tile * stride;
    const std::int64_t last = ceilDiv(results, tile) - 1;
    // The first tile behind `at` that may read another length: between the ends all read the same.
    const auto nextOther = [&](std::int64_t at) {
        const std::int64_t begin = at * step - padding, end = begin + reads;
        if (end <= 0) return (padding - reads) / step + 1;
        if (begin >= extent) return last;
        if (begin < 0 && end >= extent) return ceilDiv(padding, step);
        if (begin >= 0 && end <= extent) return (extent - reads + padding) / step + 1;
        return at + 1;
    };
    for (std::int64_t at = 0, next = 0; at < last; at = next) {
        next = std::min(last, nextOther(at));
        add(inputSpan(at * tile, tile, results, extent, window, stride, dilation).length(), next - at);
    }
    const std::int64_t first = last * tile;
    add(inputSpan(first, results - first, results, extent, window, stride, dilation).length(), 1);
    return side;
}

double invocationsOf(const TileProblem& p, const ImageTile& tile) {
    return double(p.products) * double(p.images) * double(ceilDiv(p.rows, tile.rows)) *
           double(ceilDiv(p.columns, tile.columns)) * double(ceilDiv(p.inputs, tile.inputs)) *
           double(ceilDiv(p.outputs, tile.outputs));
}

// What a choice of tiles costs: bytes sent, and bytes that are copied with a line for every run.
double weightOf(const Tiling& tiling, double line) {
    double cost = tiling.input.sent + tiling.weights.sent + tiling.output.sent;
    for (const auto* operand : {&tiling.input, &tiling.weights, &tiling.output})
        for (const CopyRuns& runs : operand->runs) cost += runs.count * (runs.bytes + line);
    return cost;
}

// Tiles of a side that hang over its ends, at most.
std::int64_t edgesOf(std::int64_t tile, std::int64_t window, std::int64_t stride, std::int64_t dilation) {
    return 2 * ((window - 1) * dilation / (tile * stride) + 2);
}

// Extents by which a side falls into 1, 2, 3, … pieces, in steps of `lanes`.
std::vector<std::int64_t> extentsOf(std::int64_t extent, std::int64_t lanes) {
    std::vector<std::int64_t> all{extent};
    const std::int64_t most = ceilDiv(extent, lanes);
    for (std::int64_t pieces = 2; pieces <= most; ++pieces) {
        const std::int64_t steps = ceilDiv(most, pieces);
        if (steps * lanes < all.back()) all.push_back(steps * lanes);
        // Equal extents follow each other: on to the least number of pieces with a smaller one.
        if (steps == 1) break;
        pieces = std::max(pieces, ceilDiv(most, steps - 1) - 1);
    }
    return all;
}

}  // namespace

std::optional<TileProblem> tileProblem(const Kernel& kernel) {
    TileProblem p;
    p.inputBytes = elementBytes(kernel.type);
    p.outputBytes = elementBytes(wideType(kernel.type));
    p.weightBytes = weightBytesPerElement(kernel.weightType, kernel.scaleBlock);
    if (kernel.kind == KernelKind::Gemm) {
        p.products = std::max<std::int64_t>(1, kernel.batch);
        p.rows = p.inRows = kernel.m;
        p.inputs = kernel.k, p.outputs = kernel.n;
        p.weightsByInput = !kernel.transposedWeight;
    } else if (kernel.kind == KernelKind::Convolution) {
        const ConvolutionShape& c = kernel.convolution;
        if (c.groups != 1) return std::nullopt;
        p.images = c.batch;
        p.rows = c.outHeight, p.columns = c.outWidth, p.inRows = c.height, p.inColumns = c.width;
        p.windowRows = c.kernelHeight, p.windowColumns = c.kernelWidth;
        p.stride = c.stride, p.dilation = c.dilation;
        p.inputs = c.inChannels, p.outputs = c.outChannels;
    } else {
        return std::nullopt;
    }
    const auto least = std::min({p.products, p.images, p.rows, p.columns, p.inRows, p.inColumns, p.windowRows,
                                 p.windowColumns, p.stride, p.dilation, p.inputs, p.outputs});
    if (least < 1 || p.inputBytes <= 0 || p.weightBytes <= 0) return std::nullopt;
    return p;
}

InputSpan inputSpan(std::int64_t first, std::int64_t count, std::int64_t results, std::int64_t extent,
                    std::int64_t window, std::int64_t stride, std::int64_t dilation) {
    const std::int64_t begin = first * stride - paddingOf(results, extent, window, stride, dilation);
    const std::int64_t end = begin + span(count, window, stride, dilation);
    const std::int64_t from = std::clamp<std::int64_t>(begin, 0, extent);
    return {from, std::clamp(end, from, extent)};
}

bool tileFits(const TileProblem& p, const ImageTile& tile, std::span<const SocBuffer> buffers, int copies) {
    const double inRows = double(std::min(p.inRows, span(tile.rows, p.windowRows, p.stride, p.dilation)));
    const double inColumns = double(std::min(p.inColumns, span(tile.columns, p.windowColumns, p.stride, p.dilation)));
    const double input = inRows * inColumns * double(tile.inputs) * p.inputBytes;
    const double weights =
        double(p.windowRows) * double(p.windowColumns) * double(tile.inputs) * double(tile.outputs) * p.weightBytes;
    const double output = double(tile.rows) * double(tile.columns) * double(tile.outputs) * p.outputBytes;
    return std::ranges::all_of(buffers, [&](const SocBuffer& buffer) {
        const double held = (buffer.keeps & keepsInputs ? input : 0) + (buffer.keeps & keepsWeights ? weights : 0) +
                            (buffer.keeps & keepsOutputs ? output : 0);
        return copies * held <= buffer.capacity.value;
    });
}

Tiling tilingOf(const TileProblem& p, const ImageTile& tile) {
    Tiling t;
    t.problem = p, t.tile = tile;
    t.rowTiles = ceilDiv(p.rows, tile.rows), t.columnTiles = ceilDiv(p.columns, tile.columns);
    t.inputTiles = ceilDiv(p.inputs, tile.inputs), t.outputTiles = ceilDiv(p.outputs, tile.outputs);
    const double products = double(p.products), images = products * double(p.images);
    const double places = double(t.rowTiles) * double(t.columnTiles);
    const double channels = double(t.inputTiles) * double(t.outputTiles);
    const double inputs = double(p.inputs), outputs = double(p.outputs);

    const Side rows = inputSide(tile.rows, p.rows, p.inRows, p.windowRows, p.stride, p.dilation);
    const Side columns = inputSide(tile.columns, p.columns, p.inColumns, p.windowColumns, p.stride, p.dilation);
    t.input.tiles = images * places * double(t.inputTiles);
    t.input.bytes = images * rows.covered * columns.covered * inputs * p.inputBytes;
    t.input.sent = t.input.bytes * (t.inputTiles > 1 ? double(t.outputTiles) : 1);
    if (places * double(t.inputTiles) > 1) {
        for (const auto& [height, high] : rows.lengths)
            for (const auto& [width, wide] : columns.lengths)
                for (const auto& c : Pieces(p.inputs, tile.inputs))
                    addBlock(t.input.runs, images * high * wide * double(c.count), double(height), double(width),
                             double(c.size), double(p.inColumns), inputs, p.inputBytes);
    }

    const double window = double(p.windowRows * p.windowColumns);
    t.weights.tiles = products * channels;
    t.weights.bytes = products * window * inputs * outputs * p.weightBytes;
    t.weights.sent = t.weights.bytes * (channels > 1 ? double(p.images) * places : 1);
    if (channels > 1) {
        for (const auto& c : Pieces(p.inputs, tile.inputs)) {
            for (const auto& k : Pieces(p.outputs, tile.outputs)) {
                const double times = products * double(c.count) * double(k.count);
                if (p.weightsByInput)
                    addBlock(t.weights.runs, times, double(c.size), 1, double(k.size), 1, outputs, p.weightBytes);
                else
                    addBlock(t.weights.runs, times, double(k.size), window, double(c.size), window, inputs,
                             p.weightBytes);
            }
        }
    }

    t.output.tiles = images * places * double(t.outputTiles);
    t.output.bytes = t.output.sent = images * double(p.rows) * double(p.columns) * outputs * p.outputBytes;
    if (places * double(t.outputTiles) > 1) {
        for (const auto& h : Pieces(p.rows, tile.rows))
            for (const auto& w : Pieces(p.columns, tile.columns))
                for (const auto& k : Pieces(p.outputs, tile.outputs))
                    addBlock(t.output.runs, images * double(h.count) * double(w.count) * double(k.count),
                             double(h.size), double(w.size), double(k.size), double(p.columns), outputs, p.outputBytes);
    }
    t.invocations = invocationsOf(p, tile);
    const double loadsInput = images * places * (t.inputTiles > 1 ? channels : 1);
    const double loadsWeights = channels > 1 ? t.invocations : products;
    t.transfers = loadsInput + loadsWeights + t.output.tiles;
    return t;
}

double leastInvocations(const TileProblem& p, std::span<const SocBuffer> buffers, int copies) {
    const double window = double(p.windowRows) * double(p.windowColumns);
    const double channels = double(p.inputs) * double(p.outputs), places = double(p.rows) * double(p.columns);
    // Elements of one tile.
    double results = places * double(p.outputs), weights = channels;
    for (const SocBuffer& buffer : buffers) {
        const double room = buffer.capacity.value / copies;
        if (buffer.keeps & keepsOutputs) results = std::min(results, room / p.outputBytes);
        if (buffer.keeps & keepsWeights) weights = std::min(weights, room / p.weightBytes / window);
    }
    // A tile of r places, c channels in and k out: r · k and c · k are no more than those.
    const double most = std::min(results * std::min(weights, double(p.inputs)), weights * std::min(results, places));
    return most > 0 ? double(p.products) * double(p.images) * places * channels / most : 0;
}

std::optional<Tiling> chooseTiling(const TileProblem& p, std::span<const SocBuffer> buffers, int copies,
                                   std::int64_t inputLanes, std::int64_t outputLanes, double line,
                                   const std::stop_token& stop) {
    if (leastInvocations(p, buffers, copies) > mostInvocations) return std::nullopt;
    const auto inputs = extentsOf(p.inputs, std::max<std::int64_t>(1, inputLanes));
    const auto outputs = extentsOf(p.outputs, std::max<std::int64_t>(1, outputLanes));
    std::optional<Tiling> best;
    double least = 0;
    for (std::int64_t columns = p.columns; !best; columns = ceilDiv(columns, 2)) {
        for (const std::int64_t c : inputs) {
            if (stop.stop_requested()) return std::nullopt;
            for (const std::int64_t k : outputs) {
                ImageTile tile{1, columns, c, k};
                if (!tileFits(p, tile, buffers, copies)) continue;
                std::int64_t low = 1, high = p.rows;  // the most rows that fit
                while (low < high) {
                    tile.rows = low + (high - low + 1) / 2;
                    if (tileFits(p, tile, buffers, copies))
                        low = tile.rows;
                    else
                        high = tile.rows - 1;
                }
                tile.rows = ceilDiv(p.rows, ceilDiv(p.rows, low));  // as many tiles, of even size
                if (invocationsOf(p, tile) > mostInvocations) continue;
                if (edgesOf(tile.rows, p.windowRows, p.stride, p.dilation) > mostEdges ||
                    edgesOf(columns, p.windowColumns, p.stride, p.dilation) > mostEdges)
                    continue;
                Tiling one = tilingOf(p, tile);
                const double cost = weightOf(one, line);
                const bool better = !best || cost < least || (cost == least && one.invocations < best->invocations);
                if (better) least = cost, best = std::move(one);
            }
        }
        if (columns == 1) break;
    }
    return best;
}

}  // namespace orrery
