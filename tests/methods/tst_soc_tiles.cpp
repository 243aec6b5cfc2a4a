// Kernels in tiles: counts worked by hand and against an element-by-element walk, the choice of tiles against all
// others, schedules by hand and between their bounds, and the loops that copy.

#include "hardware/files/catalogue.h"
#include "hardware/views/device_ref.h"
#include "hardware/views/spatial_array_view.h"
#include "methods/soc/copies.h"
#include "methods/soc/tile_schedule.h"
#include "methods/soc/tiles.h"

#include <QtCore/QFile>
#include <QtCore/QTemporaryDir>
#include <QtTest/QtTest>

#include <chrono>
#include <cmath>
#include <numeric>
#include <random>
#include <set>
#include <stop_token>

using namespace orrery;

namespace {

TileProblem image(std::int64_t side, std::int64_t inputs, std::int64_t outputs, std::int64_t window,
                  std::int64_t stride = 1) {
    TileProblem p;
    p.inRows = p.inColumns = side;
    p.rows = p.columns = (side + stride - 1) / stride;
    p.windowRows = p.windowColumns = window;
    p.stride = stride;
    p.inputs = inputs, p.outputs = outputs;
    p.inputBytes = p.weightBytes = p.outputBytes = 2;
    return p;
}
std::vector<SocBuffer> three(double bytes) {
    return {{"in", Bytes(bytes), {}, keepsInputs},
            {"w", Bytes(bytes), {}, keepsWeights},
            {"out", Bytes(bytes), {}, keepsOutputs}};
}

/// Elements side by side in memory among those of a block of rows × columns × channels.
struct Walk {
    double elements = 0, runs = 0;
};
Walk walkBlock(std::int64_t r0, std::int64_t r1, std::int64_t c0, std::int64_t c1, std::int64_t k0, std::int64_t k1,
               std::int64_t columns, std::int64_t channels) {
    Walk walk;
    std::int64_t last = -2;
    for (std::int64_t r = r0; r < r1; ++r)
        for (std::int64_t c = c0; c < c1; ++c)
            for (std::int64_t k = k0; k < k1; ++k) {
                const std::int64_t at = (r * columns + c) * channels + k;
                walk.elements += 1;
                if (at != last + 1) walk.runs += 1;
                last = at;
            }
    return walk;
}
double runsOf(const TiledOperand& operand) {
    double runs = 0;
    for (const CopyRuns& each : operand.runs) runs += each.count;
    return runs;
}
double copiedOf(const TiledOperand& operand) {
    double bytes = 0;
    for (const CopyRuns& each : operand.runs) bytes += each.count * each.bytes;
    return bytes;
}
double costOf(const Tiling& t, double line) {
    double cost = t.input.sent + t.weights.sent + t.output.sent;
    for (const auto* operand : {&t.input, &t.weights, &t.output}) cost += copiedOf(*operand) + line * runsOf(*operand);
    return cost;
}
double sum(const std::vector<TileJob>& jobs, double TileJob::*part) {
    return std::accumulate(jobs.begin(), jobs.end(), 0.0,
                           [&](double all, const TileJob& job) { return all + job.*part; });
}
std::vector<TileJob> randomJobs(std::mt19937& random, std::size_t count, int accelerators) {
    std::uniform_real_distribution<double> takes(0.1, 9);
    std::vector<TileJob> jobs(count);
    for (std::size_t j = 0; j < count; ++j) {
        jobs[j] = {takes(random), takes(random), takes(random),
                   takes(random), takes(random), static_cast<std::int32_t>(j % std::size_t(accelerators))};
        if (random() % 3 == 0) jobs[j].in = 0;
        if (random() % 3 == 0) jobs[j].out = jobs[j].gather = 0;
    }
    return jobs;
}
std::shared_ptr<const CopyTimes> copyTimes() {
    const auto loaded = loadHardware("nvdla-soc");
    if (!loaded) qFatal("%s", loaded.error().message.c_str());
    auto times = CopyTimes::make(*firstDevice(std::make_shared<const Hardware>(loaded->hardware)));
    if (!times) qFatal("%s", times.error().message.c_str());
    return *times;
}

}  // namespace

class TestSocTiles : public QObject {
    Q_OBJECT
private slots:
    void rowsByHand() {
        // 16 × 16 × 64 to 128 channels, 3 × 3: two tiles of eight rows, two of 64 channels out.
        const Tiling t = tilingOf(image(16, 64, 128, 3), {8, 16, 64, 64});
        QCOMPARE(t.invocations, 4.0);
        // Each half reads nine of sixteen rows: two rows stand in both.
        QCOMPARE(t.input.bytes, 18.0 * 16 * 64 * 2);
        QCOMPARE(t.input.bytes - 16 * 16 * 64 * 2, 2.0 * 16 * 64 * 2);
        QCOMPARE(runsOf(t.input), 2.0);
        QCOMPARE(t.input.runs.front().bytes, 9.0 * 16 * 64 * 2);
        QCOMPARE(t.input.sent, t.input.bytes);
        // Two tiles of weights, each sent for either half.
        QCOMPARE(runsOf(t.weights), 2.0);
        QCOMPARE(t.weights.sent, 2.0 * 128 * 9 * 64 * 2);
        // Half of the channels of each of 256 results, twice.
        QCOMPARE(runsOf(t.output), 2.0 * 256);
        QCOMPARE(t.output.runs.front().bytes, 128.0);
        QCOMPARE(t.output.runs.front().pitch, 256.0);
        QCOMPARE(t.transfers, 2.0 + 4 + 4);
    }
    void channelsByHand() {
        const Tiling t = tilingOf(image(16, 64, 128, 3), {16, 16, 32, 128});
        QCOMPARE(t.invocations, 2.0);
        QCOMPARE(runsOf(t.input), 2.0 * 256);
        QCOMPARE(t.input.runs.front().bytes, 64.0);
        QCOMPARE(runsOf(t.weights), 2.0 * 128 * 9);
        QVERIFY(t.output.runs.empty());  // one tile is the tensor
        QCOMPARE(t.transfers, 2.0 + 2 + 1);
        // Sums of one tile of results stay while channels in pass by: each operand is sent once.
        QCOMPARE(t.input.sent + t.weights.sent + t.output.sent, 2.0 * (16 * 16 * 64 + 128 * 9 * 64 + 16 * 16 * 128));
    }
    void stridesByHand() {
        // 224 to 112 by windows of seven, padded by three: 114 rows, then from row 109 on.
        const InputSpan first = inputSpan(0, 56, 112, 224, 7, 2, 1), second = inputSpan(56, 56, 112, 224, 7, 2, 1);
        QCOMPARE(first.begin, 0);
        QCOMPARE(first.end, 114);
        QCOMPARE(second.begin, 109);
        QCOMPARE(second.end, 224);
        // A window of one with stride two skips every other row.
        QCOMPARE(inputSpan(3, 1, 7, 14, 1, 2, 1).begin, 6);
        QCOMPARE(inputSpan(3, 1, 7, 14, 1, 2, 1).length(), 1);
    }
    void productsByHand() {
        Kernel kernel;
        kernel.kind = KernelKind::Gemm;
        kernel.type = kernel.weightType = DType::F16;
        kernel.m = 100, kernel.n = 512, kernel.k = 256;
        kernel.transposedWeight = true;
        Tiling t = tilingOf(*tileProblem(kernel), {50, 1, 256, 128});
        QCOMPARE(t.invocations, 8.0);
        QCOMPARE(runsOf(t.input), 2.0);
        QCOMPARE(runsOf(t.weights), 4.0);  // 128 rows of 256 lie side by side
        QCOMPARE(runsOf(t.output), 4.0 * 100);
        kernel.transposedWeight = false;
        t = tilingOf(*tileProblem(kernel), {50, 1, 256, 128});
        QCOMPARE(runsOf(t.weights), 4.0 * 256);  // 128 of 512 in each of 256 rows
        kernel.kind = KernelKind::Softmax;
        QVERIFY(!tileProblem(kernel));
        kernel.kind = KernelKind::Convolution;
        kernel.convolution = {.batch = 1,
                              .inChannels = 8,
                              .outChannels = 8,
                              .groups = 8,
                              .height = 4,
                              .width = 4,
                              .outHeight = 4,
                              .outWidth = 4};
        QVERIFY(!tileProblem(kernel));
    }
    void countsAreThoseOfAWalkOverAllElements() {
        std::mt19937 random(3);
        const auto upTo = [&](std::int64_t most) {
            return 1 + static_cast<std::int64_t>(random() % std::uint64_t(most));
        };
        for (int round = 0; round < 200; ++round) {
            TileProblem p = image(upTo(12), upTo(9), upTo(9), std::array{1, 3, 5}[random() % 3], upTo(2));
            p.images = upTo(2);
            const ImageTile tile{upTo(p.rows), upTo(p.columns), upTo(p.inputs), upTo(p.outputs)};
            const Tiling t = tilingOf(p, tile);
            Walk in, out, weights;
            double invocations = 0;
            for (std::int64_t i = 0; i < p.images; ++i)
                for (std::int64_t h = 0; h < p.rows; h += tile.rows)
                    for (std::int64_t w = 0; w < p.columns; w += tile.columns) {
                        const auto he = std::min(h + tile.rows, p.rows), we = std::min(w + tile.columns, p.columns);
                        const InputSpan rows = inputSpan(h, he - h, p.rows, p.inRows, p.windowRows, p.stride, 1);
                        const InputSpan columns =
                            inputSpan(w, we - w, p.columns, p.inColumns, p.windowColumns, p.stride, 1);
                        for (std::int64_t c = 0; c < p.inputs; c += tile.inputs) {
                            const Walk one = walkBlock(rows.begin, rows.end, columns.begin, columns.end, c,
                                                       std::min(c + tile.inputs, p.inputs), p.inColumns, p.inputs);
                            in.elements += one.elements, in.runs += one.runs;
                        }
                        for (std::int64_t k = 0; k < p.outputs; k += tile.outputs) {
                            const Walk one =
                                walkBlock(h, he, w, we, k, std::min(k + tile.outputs, p.outputs), p.columns, p.outputs);
                            out.elements += one.elements, out.runs += one.runs;
                            for (std::int64_t c = 0; c < p.inputs; c += tile.inputs) invocations += 1;
                        }
                    }
            const std::int64_t window = p.windowRows * p.windowColumns;
            for (std::int64_t k = 0; k < p.outputs; k += tile.outputs)
                for (std::int64_t c = 0; c < p.inputs; c += tile.inputs) {
                    const Walk one = walkBlock(k, std::min(k + tile.outputs, p.outputs), 0, window, c,
                                               std::min(c + tile.inputs, p.inputs), window, p.inputs);
                    weights.elements += one.elements, weights.runs += one.runs;
                }
            QCOMPARE(t.invocations, invocations);
            QCOMPARE(t.input.bytes, 2 * in.elements);
            QCOMPARE(t.output.bytes, 2 * out.elements);
            QCOMPARE(t.weights.bytes, 2 * weights.elements);
            for (const auto& [operand, walk] : {std::pair{&t.input, &in}, {&t.weights, &weights}, {&t.output, &out}}) {
                if (operand->runs.empty()) continue;
                QCOMPARE(copiedOf(*operand), operand->bytes);
                QCOMPARE(runsOf(*operand), walk->runs);
            }
            // Results leave once; nothing that is read is read less than once.
            QCOMPARE(t.output.sent, 2.0 * double(p.images * p.rows * p.columns * p.outputs));
            QVERIFY(t.input.sent >= t.input.bytes && t.weights.sent >= t.weights.bytes);
        }
    }
    void noOtherTileIsBetter() {
        for (const TileProblem& p : {image(14, 64, 64, 3), image(28, 32, 48, 1), image(20, 16, 40, 3, 2)}) {
            const auto buffers = three(4096);
            const auto chosen = chooseTiling(p, buffers, 1, 8, 8, 32);
            QVERIFY(chosen && tileFits(p, chosen->tile, buffers, 1));
            double least = 1e300;
            for (std::int64_t rows = 1; rows <= p.rows; ++rows)
                for (std::int64_t c = 8; c <= p.inputs; c += 8)
                    for (std::int64_t k = 8; k <= p.outputs; k += 8) {
                        const ImageTile tile{rows, p.columns, c, k};
                        if (tileFits(p, tile, buffers, 1)) least = std::min(least, costOf(tilingOf(p, tile), 32));
                    }
            // Rows are made even, which may move a row of the halo.
            QVERIFY2(costOf(*chosen, 32) <= 1.02 * least,
                     qPrintable(QString("%1 and %2").arg(costOf(*chosen, 32)).arg(least)));
        }
    }
    void tilesFit() {
        const TileProblem p = image(56, 64, 64, 3);
        double before = 1e300;
        for (const double bytes : {9216.0, 16384.0, 32768.0, 131072.0, 4e6}) {
            const auto one = chooseTiling(p, three(bytes), 1, 32, 8, 64),
                       two = chooseTiling(p, three(bytes), 2, 32, 8, 64);
            QVERIFY(one && two);
            QVERIFY(tileFits(p, two->tile, three(bytes), 2));
            QVERIFY(costOf(*one, 64) <= costOf(*two, 64));
            QVERIFY(costOf(*one, 64) <= before);
            before = costOf(*one, 64);
        }
        QCOMPARE(chooseTiling(p, three(4e6), 1, 32, 8, 64)->invocations, 1.0);
        QVERIFY(!chooseTiling(p, three(64), 1, 32, 8, 64));
        // One scratchpad for all holds the three together.
        const std::vector<SocBuffer> shared{{"all", Bytes(6144), {}, keepsInputs | keepsWeights | keepsOutputs}};
        const auto inOne = chooseTiling(p, shared, 1, 32, 8, 64);
        QVERIFY(inOne && tileFits(p, inOne->tile, shared, 1) && !tileFits(p, inOne->tile, shared, 4));
    }

    void longSidesTakeNoSteps() {
        // Of 1,000,001 tiles of a row each those at the ends lack a row of their windows of three.
        TileProblem p = image(1'000'001, 8, 8, 3);
        p.columns = p.inColumns = p.windowColumns = 1;
        const Tiling t = tilingOf(p, {1, 1, 8, 8});
        QCOMPARE(t.rowTiles, 1'000'001);
        QCOMPARE(t.input.bytes, (999'999 * 3.0 + 2 * 2) * 8 * 2);
        // A product of 1e12 rows and as many results as no scratchpad holds is refused before any tile is looked at;
        // one with a channel of each is many invocations too.
        const auto begin = std::chrono::steady_clock::now();
        TileProblem rows = image(1, 4096, 4096, 1);
        rows.rows = rows.inRows = 1'000'000'000'000;
        QVERIFY(leastInvocations(rows, three(32768), 1) > mostInvocations);
        QVERIFY(!chooseTiling(rows, three(32768), 1, 32, 8, 64));
        TileProblem deep = image(1, 1'000'000'000'000, 1, 1);
        QVERIFY(!chooseTiling(deep, three(32768), 1, 1, 1, 64));
        // A billion rows of one channel each: 2^14 fit at once.
        TileProblem thin = image(1, 1, 1, 1);
        thin.rows = thin.inRows = 1'000'000'000;
        const auto found = chooseTiling(thin, three(32768), 1, 32, 8, 64);
        QVERIFY(found);
        QCOMPARE(found->invocations, std::ceil(1e9 / 16384));
        // The walks that this replaces would take hours.
        QVERIFY(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
    }
    void noTilingNeedsLessThanTheLeast() {
        for (const TileProblem& p : {image(14, 64, 64, 3), image(28, 32, 48, 1), image(1, 512, 300, 1)})
            for (const double bytes : {1024.0, 4096.0, 65536.0}) {
                const double least = leastInvocations(p, three(bytes), 1);
                for (std::int64_t rows = 1; rows <= p.rows; ++rows)
                    for (std::int64_t c = 1; c <= p.inputs; c += 7)
                        for (std::int64_t k = 1; k <= p.outputs; k += 5) {
                            const ImageTile tile{rows, p.columns, c, k};
                            if (tileFits(p, tile, three(bytes), 1))
                                QVERIFY(tilingOf(p, tile).invocations >= least * (1 - 1e-12));
                        }
            }
    }
    void choosingStopsWhenAsked() {
        std::stop_source source;
        source.request_stop();
        QVERIFY(!chooseTiling(image(14, 64, 64, 3), three(4096), 1, 8, 8, 32, source.get_token()));
    }

    void oneBufferByHand() {
        const std::vector<TileJob> jobs(2, {1, 2, 3, 1, 1, 0});
        const TileBill bill = scheduleTiles(jobs, 1, TileBuffers::One);
        QCOMPARE(bill.seconds, 16.0);
        QCOMPARE(bill.compute, 6.0);
        QCOMPARE(bill.transfer, 6.0);
        QCOMPARE(bill.preparation, 4.0);
    }
    void twoBuffersByHand() {
        // In 1–3 and 3–5, computed 3–6 and 6–9, out 6–7 and 9–10, gathered 7–8 and 10–11.
        const std::vector<TileJob> jobs(2, {1, 2, 3, 1, 1, 0});
        const TileBill bill = scheduleTiles(jobs, 1, TileBuffers::Two);
        QCOMPARE(bill.seconds, 11.0);
        QCOMPARE(bill.compute, 6.0);
        QCOMPARE(bill.transfer, 3.0);
        QCOMPARE(bill.preparation, 2.0);
    }
    void twoAcceleratorsShareTheWay() {
        // In 0–2 and 2–4, computed 2–5 and 4–7, out 5–6 and 7–8.
        std::vector<TileJob> jobs(2, {0, 2, 3, 1, 0, 0});
        jobs[1].accelerator = 1;
        const TileBill bill = scheduleTiles(jobs, 2, TileBuffers::One);
        QCOMPARE(bill.seconds, 8.0);
        QCOMPARE(bill.compute, 5.0);
        QCOMPARE(bill.transfer, 3.0);
    }
    void aLinkCarriesBothWaysAtOnce() {
        // In 0–2, 2–4 and 4–6; computed 2–4, 4–6 and 6–8; out 4–6, 6–8 and 8–10, where nothing behind the link limits.
        const std::vector<TileJob> jobs(3, {0, 2, 2, 2, 0, 0});
        QCOMPARE(scheduleTiles(jobs, 1, TileBuffers::Two, nullptr, 16, 0).seconds, 10.0);
        // Half of the time behind: 0–1, 2–3, 4–5, 5–6, 6–7, 8–9: the same.
        QCOMPARE(scheduleTiles(jobs, 1, TileBuffers::Two, nullptr, 16, 0.5).seconds, 10.0);
        // On a bus all six transfers follow one another.
        QVERIFY(scheduleTiles(jobs, 1, TileBuffers::Two).seconds >= 12.0);
        double before = 0;
        for (const double shared : {0.0, 0.25, 0.5, 0.75, 1.0}) {
            std::vector<TileJob> many(24, {0, 2, 1, 2, 0, 0});
            for (std::size_t j = 0; j < many.size(); ++j) many[j].accelerator = std::int32_t(j % 4);
            const TileBill bill = scheduleTiles(many, 4, TileBuffers::One, nullptr, 16, shared);
            QVERIFY(bill.seconds >= std::max(48.0, 96 * shared) && bill.seconds >= before);
            QCOMPARE(bill.compute + bill.transfer + bill.preparation, bill.seconds);
            before = bill.seconds;
        }
    }
    void schedulesKeepTheirBounds() {
        std::mt19937 random(11);
        for (int round = 0; round < 300; ++round) {
            const int lanes = 1 + int(random() % 4);
            std::vector<TileJob> jobs = randomJobs(random, 1 + random() % 40, lanes);
            const double prepare = sum(jobs, &TileJob::prepare), gather = sum(jobs, &TileJob::gather),
                         carry = sum(jobs, &TileJob::in) + sum(jobs, &TileJob::out),
                         compute = sum(jobs, &TileJob::compute);
            for (const TileBuffers buffers : {TileBuffers::One, TileBuffers::Two}) {
                std::vector<KernelSpan> spans;
                const TileBill bill = scheduleTiles(jobs, lanes, buffers, &spans, 7);
                QCOMPARE(bill.compute + bill.transfer + bill.preparation, bill.seconds);
                QVERIFY(bill.compute > 0 && bill.transfer >= 0 && bill.preparation >= 0);
                const double serial = prepare + gather + carry + compute;
                QVERIFY(bill.seconds <= serial * (1 + 1e-12));
                QVERIFY(bill.seconds >= std::max({prepare + gather, carry, compute / lanes}) * (1 - 1e-12));
                if (buffers == TileBuffers::One && lanes == 1) {
                    QVERIFY(std::abs(bill.seconds / serial - 1) < 1e-12);
                    QVERIFY(std::abs(bill.compute / compute - 1) < 1e-12);
                    QVERIFY(std::abs(bill.preparation - prepare - gather) < 1e-9);
                }
                // What is drawn is as long as what is done.
                double drawnCompute = 0, drawnCarry = 0, drawnProcessor = 0, last = 0;
                std::int32_t row = -1;
                for (const KernelSpan& span : spans) {
                    QVERIFY(span.row >= row && (span.row > row || span.start >= last - 1e-9));
                    row = span.row, last = span.end;
                    const double length = span.end - span.start;
                    (span.row == preparationRow ? drawnProcessor : span.row % 2 ? drawnCompute : drawnCarry) += length;
                }
                QVERIFY(std::abs(drawnCompute - compute) < 1e-9);
                QVERIFY(std::abs(drawnCarry - carry) < 1e-9);
                QVERIFY(std::abs(drawnProcessor - prepare - gather) < 1e-9);
            }
            if (lanes == 1) {
                auto quicker = jobs;
                for (TileJob& each : quicker) each.in /= 2, each.out /= 2;
                for (const TileBuffers buffers : {TileBuffers::One, TileBuffers::Two})
                    QVERIFY(scheduleTiles(quicker, 1, buffers).seconds <=
                            scheduleTiles(jobs, 1, buffers).seconds + 1e-9);
            }
        }
    }

    void copiesTouchEveryByteOnce() {
        const auto times = copyTimes();
        for (const auto& [bytes, pitch] : {std::pair<std::int64_t, std::int64_t>{200, 512}, {7, 64}, {4096, 4096}}) {
            const auto nest = copyNest(times->machine(), 5, bytes, pitch, CopyWay::IntoTile);
            std::set<std::uint64_t> loaded, stored;
            pipeline::OpChunk chunk;
            pipeline::NestStream stream(nest);
            std::size_t integers = 0;
            while (stream.next(chunk)) {
                for (std::size_t i = 0; i < chunk.size; ++i) {
                    const auto& op = nest.ops[chunk.op[i]];
                    for (std::uint64_t b = 0; b < op.bytes; ++b) {
                        if (op.kind == pipeline::OpKind::Load) QVERIFY(loaded.insert(chunk.address[i] + b).second);
                        if (op.kind == pipeline::OpKind::Store) QVERIFY(stored.insert(chunk.address[i] + b).second);
                    }
                    integers += op.kind == pipeline::OpKind::Integer;
                }
            }
            QCOMPARE(loaded.size(), std::size_t(5 * bytes));
            QCOMPARE(stored.size(), std::size_t(5 * bytes));
            // From side to side of the target, with gaps in the source alone.
            QCOMPARE(*stored.rbegin() - *stored.begin() + 1, std::uint64_t(5 * bytes));
            QCOMPARE(*loaded.rbegin() - *loaded.begin() + 1, std::uint64_t(4 * pitch + bytes));
            QVERIFY(integers >= 5u * runOverhead);
        }
    }
    void aPipelineFileThatChangesIsTimedAnew() {
        const QTemporaryDir folder;
        const QString path = folder.filePath("mine.yaml");
        QFile shipped(QString::fromStdString(presetsFolder() + "/pipelines/skylake-server.yaml"));
        QVERIFY(shipped.open(QFile::ReadOnly));
        const QByteArray text = shipped.readAll();
        const auto streamed = [&](const QByteArray& pipeline) {
            QFile file(path);
            if (!file.open(QFile::WriteOnly) || file.write(pipeline) != pipeline.size()) qFatal("not written");
            file.close();
            auto design =
                withAttribute(loadHardware("nvdla-soc")->hardware, "core.microarchitecture", path.toStdString());
            if (!design) qFatal("%s", design.error().message.c_str());
            const auto times = CopyTimes::make(*firstDevice(std::make_shared<const Hardware>(*design)));
            if (!times) qFatal("%s", times.error().message.c_str());
            return (*times)->runSeconds(1 << 18, 1 << 18, CopyWay::IntoTile);
        };
        QByteArray slow = text;
        slow.replace("bandwidth: 13 GB/s", "bandwidth: 2 GB/s");
        QVERIFY(slow != text);
        const double before = streamed(text);
        QVERIFY(streamed(slow) > 2 * before);
        QCOMPARE(streamed(text), before);
    }
    void shortRunsCostMore() {
        const auto times = copyTimes();
        double before = 0;
        for (const double bytes : {16.0, 64.0, 256.0, 1024.0, 16384.0}) {
            const double total = 1 << 20;
            const CopyRuns runs{total / bytes, bytes, 4 * bytes};
            const double seconds = times->seconds(runs, CopyWay::IntoTile, 1);
            if (before > 0) QVERIFY2(seconds <= before * 1.05, qPrintable(QString::number(bytes)));
            before = seconds;
            QVERIFY(seconds >= 2 * total / 12.8e9);
            double more = seconds;
            for (const int threads : {2, 4, 8}) {
                const double shared = times->seconds(runs, CopyWay::IntoTile, threads);
                QVERIFY(shared <= more && shared >= 2 * total / 12.8e9 && shared >= seconds / threads);
                more = shared;
            }
        }
        // Twice as many runs take twice as long, and a layout is no cheaper than a copy of as many bytes.
        QCOMPARE(times->seconds({200, 256, 1024}, CopyWay::IntoTensor, 1),
                 2 * times->seconds({100, 256, 1024}, CopyWay::IntoTensor, 1));
        QVERIFY(times->layoutSeconds(64, 56 * 56, 2, 1) >
                times->seconds({1, 64.0 * 56 * 56 * 2, 0}, CopyWay::IntoTile, 1));
    }
};

QTEST_GUILESS_MAIN(TestSocTiles)
#include "tst_soc_tiles.moc"
