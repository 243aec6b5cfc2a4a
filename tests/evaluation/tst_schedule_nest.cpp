#include "base/random.h"
#include "learning/schedules/nest_maker.h"
#include "learning/schedules/schedule_features.h"
#include "learning/schedules/schedule_loops.h"
#include "learning/schedules/schedule_nest.h"

#include <QtTest/QtTest>

#include <fmt/format.h>

#include <cmath>
#include <fstream>

using namespace orrery;

// Schedules as loop nests: does the nest do the operator's work, touch its bytes, and stand in the order that the
// compiler gives it?
class TestScheduleNest : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;

    static TunedRow rowOf(const std::string& task, const std::string& workload, const std::string& config) {
        TunedRow row;
        row.task = task, row.workload = workload;
        if (auto work = readTensorWork(task, workload)) row.work = *work;
        row.knobs = readKnobs(config);
        return row;
    }
    // Factors of an extent, drawn: all but the first.
    static std::string split(RandomStream& random, int extent, int parts) {
        std::string text = "-1";
        for (int part = 1; part < parts; ++part) {
            std::vector<int> divisors;
            for (int d = 1; d <= extent; ++d)
                if (extent % d == 0) divisors.push_back(d);
            const int chosen = divisors[static_cast<std::size_t>(random.below(divisors.size()))];
            text += fmt::format(",{}", chosen);
            extent /= chosen;
        }
        return text;
    }
    // A product of 64 × 32 × 16; ' stands for ", and ~ for one within a text.
    TunedRow ansor(const std::string& steps) const {
        std::string text = "{'i': [['[~matmul~, 64, 32, 16]', 'llvm -keys=cpu', [8, 64, 64, 0, 0, 0, 0, 0]], [[], [" +
                           steps + "]]], 'r': [[0.001], 0, 0.1, 1], 'v': 'v0.6'}";
        std::string record;
        for (const char each : text) {
            if (each == '~') record += '\\';
            record += each == '~' || each == '\'' ? '"' : each;
        }
        const std::string path = folder_.filePath("record.json").toStdString();
        std::ofstream(path) << record;
        const auto log = readTuningLog(path);
        return log && !log->rows.empty() ? log->rows.front() : TunedRow{};
    }
    static double product(const ScheduleNest& nest, LoopMark mark) {
        double steps = 1;
        for (const NestLine& line : nest.lines)
            if (line.loop && line.mark == mark) steps *= line.extent;
        return steps;
    }

private slots:
    // schedule_dense_nopack of TVM: tiles in parallel, then the reduction, an unrolled tile, a vector of the reduction.
    void aProductIsWrittenAsItsTemplateMakesIt() {
        const TunedRow row = rowOf("dense_nopack.x86", "128x64:float32;768x64:float32;None;float32",
                                   "tile_y=-1,4;tile_x=-1,8;tile_k=-1,16");
        const auto nest = scheduleNestOf(row);
        QVERIFY(nest);
        QCOMPARE(QString::fromStdString(codeOf(*nest)), QString("for row_0·output_0 in 0..3072:  # parallel\n"
                                                                "  for input_0 in 0..4:\n"
                                                                "    for row_1·output_1 in 0..32:  # unroll\n"
                                                                "      for input_1 in 0..16:  # vectorize\n"
                                                                "        out += in × weights\n"));
        // One vector: 16 × 4 bytes of the input, as many weights, one result; twice 16 FLOPs.
        const NestLine& vector = nest->lines[3];
        QCOMPARE(vector.bytes, 4.0 * (16 + 16 + 1));
        QCOMPARE(vector.flops, 32.0);
    }

    // Worked out by hand from the steps (TVM, src/auto_scheduler): the product is computed at the output's fourth loop,
    // so that its own outer loops have one step.
    void anAnsorRecordIsReplayed() {
        const TunedRow row = ansor(
            "['SP', 2, 0, 64, [2, 1, 4], 1], ['SP', 2, 4, 32, [1, 1, 8], 1], ['SP', 2, 8, 16, "
            "[4], 1], ['RE', 2, [0, 4, 1, 5, 8, 2, 6, 9, 3, 7]], ['FSP', 4, 0, 0, 2], ['FSP', "
            "4, 3, 1, 2], ['RE', 4, [0, 3, 1, 4, 2, 5]], ['CA', 2, 4, 3], ['FU', 4, [0, 1]], "
            "['AN', 4, 0, 3], ['PR', 2, 0, 'auto_unroll_max_step$8'], ['AN', 2, 9, 2], ['AN', "
            "4, 4, 2]");
        const auto nest = scheduleNestOf(row);
        QVERIFY(nest);
        QCOMPARE(QString::fromStdString(codeOf(*nest)), QString("# loops of up to 8 steps are unrolled\n"
                                                                "for row_0·output_0 in 0..32:  # parallel\n"
                                                                "  for row_1 in 0..2:\n"
                                                                "    for input_0 in 0..4:\n"
                                                                "      for input_1 in 0..4:\n"
                                                                "        for row_3 in 0..4:\n"
                                                                "          for output_3 in 0..8:  # vectorize\n"
                                                                "            out += in × weights\n"
                                                                "    for row_2 in 0..4:\n"
                                                                "      for output_2 in 0..8:  # vectorize\n"
                                                                "        write the results\n"));
        QCOMPARE(nest->lines.front().flops, row.work.flops());
        QCOMPARE(nest->lines.front().bytes, row.work.bytes());
    }

    // Whatever the sizes: the whole nest does all FLOPs and touches each byte once; a loop further in never more.
    void aNestDoesItsOperatorsWork() {
        RandomStream random(7);
        const auto drawn = [&](std::initializer_list<int> from) {
            return *(from.begin() + static_cast<std::ptrdiff_t>(random.below(from.size())));
        };
        for (int trial = 0; trial < 400; ++trial) {
            const int channels = drawn({16, 24, 64, 96}), outputs = drawn({8, 32, 60, 128}),
                      side = drawn({7, 14, 28, 30}), kernel = drawn({1, 3});
            std::string task, workload, config;
            const auto set = [&](const char* name, int extent, int parts) {
                config += fmt::format("{}={};", name, split(random, extent, parts));
            };
            switch (trial % 6) {
                case 0:
                    task = "conv2d_nchw.cuda";
                    set("tile_f", outputs, 4), set("tile_y", side, 4), set("tile_x", side, 4),
                        set("tile_rc", channels, 2);
                    set("tile_ry", kernel, 2), set("tile_rx", kernel, 2);
                    break;
                case 1:
                    task = "conv2d_NCHWc.x86";
                    set("tile_ic", channels, 2), set("tile_oc", outputs, 2), set("tile_ow", side, 2);
                    config += trial % 4 == 1 ? "unroll_kw=True" : "unroll_kw=False";
                    break;
                case 2:
                    task = "conv2d_nchw_spatial_pack.arm_cpu";
                    set("tile_co", outputs, 2), set("tile_oh", side, 2), set("tile_ow", side, 2);
                    config += "reorder_0=0,1,2,3,4,5,6,9,7,8;ann_reduce=none,unroll;ann_spatial=unroll,none,vec";
                    break;
                case 3:
                    task = "dense_large_batch.cuda";
                    set("tile_x", side, 4), set("tile_y", outputs, 4), set("tile_k", channels, 3);
                    break;
                case 4:
                    task = "dense_pack.x86";
                    set("tile_y", side, 3), set("tile_x", outputs, 3), set("tile_k", channels, 2);
                    break;
                default:
                    task = "batch_matmul.cuda";
                    set("tile_y", side, 3), set("tile_x", outputs, 3), set("tile_k", channels, 2);
            }
            if (trial % 6 < 3) {
                workload =
                    fmt::format("1x{0}x{1}x{1}:float32;{2}x{0}x{3}x{3}:float32;(1 1);({4} {4} {4} {4});(1 1);float32",
                                channels, side, outputs, kernel, kernel / 2);
            } else if (trial % 6 == 5) {
                workload = fmt::format("12x{0}x{1}:float32;12x{2}x{1}:float32;(12 {0} {2})", side, channels, outputs);
            } else {
                workload = fmt::format("{}x{}:float32;{}x{}:float32;None;float32", side, channels, outputs, channels);
            }
            const TunedRow row = rowOf(task, workload, config);
            const auto nest = scheduleNestOf(row);
            QVERIFY(nest);
            const std::string said = fmt::format("{} {} {}\n{}", task, workload, config, codeOf(*nest));
            double steps = 2, before = 0, deep = -1;
            for (const NestLine& line : nest->lines) {
                if (!line.loop) continue;
                QVERIFY2(line.depth > deep, said.c_str());  // one loop in the other
                deep = line.depth;
                if (before == 0) {
                    QVERIFY2(std::abs(line.flops / row.work.flops() - 1) < 1e-12, said.c_str());
                    QVERIFY2(std::abs(line.bytes / row.work.bytes() - 1) < 1e-12, said.c_str());
                } else {
                    QVERIFY2(line.bytes <= before, said.c_str());
                }
                before = line.bytes;
                steps *= line.extent;
            }
            QVERIFY2(std::abs(steps / row.work.flops() - 1) < 1e-12, said.c_str());
            if (task.ends_with("cuda")) {  // counted by other means for the model's features
                const ScheduleLoops loops = loopsOf(row);
                QVERIFY2(std::abs(product(*nest, LoopMark::Block) / loops.tasks - 1) < 1e-12, said.c_str());
                QVERIFY2(std::abs(product(*nest, LoopMark::Thread) / loops.threads - 1) < 1e-12, said.c_str());
            }
        }
    }

    void axesAreThoseOfTheTemplate() {
        const auto nest = scheduleNestOf(
            rowOf("conv2d_nchw.cuda", "1x64x56x56:float32;64x64x3x3:float32;(1 1);(1 1 1 1);(1 1);float32",
                  "tile_f=-1,2,8,2;tile_y=-1,1,7,1;tile_x=-1,1,14,2;tile_rc=-1,8;tile_ry=-1,3;tile_rx=-1,"
                  "1;auto_unroll_max_step=512;unroll_explicit=1"));
        QVERIFY(nest);
        QCOMPARE(nest->unroll, 512.0);
        std::map<std::string, std::string> axes;
        for (const NestLine& line : nest->lines)
            if (!line.axis.empty()) axes[line.name] = line.axis;
        QCOMPARE(axes["output_0"], std::string("blockIdx.z"));
        QCOMPARE(axes["row_0"], std::string("blockIdx.y"));
        QCOMPARE(axes["column_0"], std::string("blockIdx.x"));
        QCOMPARE(axes["output_1"], std::string("vthread"));
        QCOMPARE(axes["column_2"], std::string("threadIdx.x"));
    }

    void depthwiseAndStridesTouchWhatTheyRead() {
        const auto depthwise = scheduleNestOf(rowOf("depthwise_conv2d_nchw.cuda",
                                                    "1x32x14x14:float32;32x1x3x3:float32;(2 2);(1 1 1 1);(1 1);float32",
                                                    "tile_f=-1,1,4,1"));
        QVERIFY(depthwise);
        QCOMPARE(depthwise->lines.front().flops, 2.0 * 7 * 7 * 32 * 9);
        QCOMPARE(depthwise->lines.front().bytes, 4.0 * (32 * 14 * 14 + 32 * 9 + 32 * 7 * 7));
        // Two rows of results with stride 2 under a kernel of 3: 5 rows of the input.
        TensorWork work;
        work.rows = work.columns = 7, work.inputRows = work.inputColumns = 14, work.stride = 2;
        work.kernelRows = work.kernelColumns = 3, work.inputs = work.outputs = 1;
        NestExtents two = noExtents;
        two[static_cast<std::size_t>(NestDimension::Rows)] = 2;
        two[static_cast<std::size_t>(NestDimension::KernelRows)] = 3;
        QCOMPARE(touchedBytes(work, two), 4.0 * (5 + 3 + 2));
    }

    void winogradIsRefused() {
        const auto nest = scheduleNestOf(rowOf("conv2d_nchw_winograd.cuda",
                                               "1x64x56x56:float32;64x64x3x3:float32;(1 1);(1 1 1 1);(1 1);float32",
                                               "tile_b=-1,1,1,1"));
        QVERIFY(!nest);
        QCOMPARE(nest.error().code, std::string("schedules.nest"));
        QVERIFY(!nest.error().hint.empty());
    }

    // A stage is computed at one place. Splits give each stage of a chain two loops; each is moved into the next one
    // 16 times, as a record may well say: written once each, where before every stage was written 16 times as often as
    // the one around it.
    void aStageStandsWhereItWasMovedLast() {
        const auto record = [&](int times) {
            std::string steps =
                "['SP', 2, 0, 64, [2, 1, 4], 1], ['SP', 2, 4, 32, [1, 1, 8], 1], ['SP', 2, 8, 16, [4], 1]";
            for (int stage = 3; stage < 9; ++stage) steps += fmt::format(", ['SP', {}, 0, 4, [2], 1]", stage);
            for (int stage = 2; stage < 8; ++stage)
                for (int i = 0; i < times; ++i)
                    steps += fmt::format(", ['CA', {}, {}, {}]", stage, stage + 1, (times - 1 - i) % 2);
            return ansor(steps);
        };
        const auto once = ansorNest(record(1)), often = ansorNest(record(16));
        QVERIFY(once && often);
        QCOMPARE(QString::fromStdString(codeOf(*often)), QString::fromStdString(codeOf(*once)));
        QCOMPARE(QString::fromStdString(codeOf(*often)).count("write the results"), 6);
    }

    // Each pair makes a name of two names: 40 pairs would make one of 2^40.
    void namesStayShort() {
        std::string steps =
            "['SP', 2, 0, 64, [2, 1, 4], 1], ['SP', 2, 4, 32, [1, 1, 8], 1], ['SP', 2, 8, 16, [4], 1], "
            "['SP', 5, 0, 4, [2], 1], ['CA', 2, 4, 0]";
        for (int i = 0; i < 40; ++i) steps += ", ['FSP', 4, 0, 3, 1], ['FU', 4, [0, 1]]";
        const auto nest = ansorNest(ansor(steps));
        QVERIFY(nest);
        QVERIFY(nest->lines.front().loop);
        QCOMPARE(nest->lines.front().extent, 4.0);
        for (const NestLine& line : nest->lines) QVERIFY2(line.name.size() <= 80, line.name.c_str());
    }

    // Lines of the code are lines of the nest, whatever a record calls its caches.
    void aScopeIsOneShortWord() {
        TunedRow row = ansor(
            "['SP', 2, 0, 64, [2, 1, 4], 1], ['SP', 2, 4, 32, [1, 1, 8], 1], ['SP', 2, 8, 16, [4], 1], ['CHR', 1, "
            "'shared', [2]], ['CA', 2, 3, 1]");
        QCOMPARE(row.steps[3].kind, std::string("CHR"));
        row.steps[4].numbers = {2, 3, 0};
        for (const std::string& scope : {std::string("shared.dyn"), std::string("a\nb\r\tc\xe2\x80\xa9"),
                                         std::string(1000, 'x'), std::string("\0\x7f", 2)}) {
            row.steps[3].word = scope;
            const auto nest = ansorNest(row);
            QVERIFY(nest);
            const std::string code = codeOf(*nest);
            QCOMPARE(static_cast<std::size_t>(std::count(code.begin(), code.end(), '\n')), nest->lines.size());
            std::size_t caches = 0;
            for (const NestLine& line : nest->lines) {
                const auto arrow = line.name.find(" ← a tile of an input");
                if (arrow == line.name.npos) continue;
                ++caches;
                QVERIFY(arrow >= 1 && arrow <= 40);
                for (const char each : line.name.substr(0, arrow)) QVERIFY(each >= ' ' && each <= '~');
                if (scope == "shared.dyn") QCOMPARE(line.name.substr(0, arrow), scope);
            }
            QCOMPARE(caches, std::size_t{1});
        }
    }

    // What is said of an order is true only of what is followed: of templates by their names, of no Ansor record.
    void anAssumedOrderIsSaidToBeSo() {
        const std::string convolution = "1x64x56x56:float32;64x64x3x3:float32;(1 1);(1 1 1 1);(1 1);float32";
        const std::string product = "128x64:float32;768x64:float32;None;float32";
        for (const auto& [task, known] : {std::pair{"conv2d_nchw.cuda", true},
                                          {"depthwise_conv2d_nchw.cuda", true},
                                          {"conv2d_NCHWc.x86", true},
                                          {"conv2d_nchw_spatial_pack.arm_cpu", true},
                                          {"conv2d_nchw_spatial_pack.mali", false},
                                          {"conv2d_NCHWc.intel_graphics", false},
                                          {"conv2d_nchwc.image2d", false},
                                          {"conv2d_transpose_nchw.cuda", false},
                                          {"group_conv2d_nchw.cuda", false},
                                          {"conv2d_nhwc.x86", false},
                                          {"dense_nopack.x86", true},
                                          {"dense_pack.x86", true},
                                          {"dense_large_batch.cuda", true},
                                          {"dense_small_batch.gpu", true},
                                          {"dense.mali", false},
                                          {"dense_int8.cuda", false},
                                          {"dense.arm_cpu", false}}) {
            const bool isProduct = std::string_view(task).starts_with("dense");
            const auto nest = scheduleNestOf(rowOf(task, isProduct ? product : convolution, ""));
            QVERIFY2(nest, task);
            QVERIFY2((nest->basis.find("usual") == nest->basis.npos) == known, task);
            QVERIFY2((nest->basis.find("from TVM's template") != nest->basis.npos) == known, task);
        }
        // RF is not followed.
        for (const char* target : {"x86", "cuda"}) {
            TunedRow row = ansor(
                "['SP', 2, 0, 64, [2, 1, 4], 1], ['SP', 2, 4, 32, [1, 1, 8], 1], ['SP', 2, 8, 16, [4], 1], ['RF', 2, "
                "9, 2]");
            row.task = std::string("ansor_matmul.") + target;
            QVERIFY(!ansorNest(row));
            const auto nest = scheduleNestOf(row);
            QVERIFY(nest);
            QVERIFY2(nest->basis.find("usual") != nest->basis.npos, nest->basis.c_str());
            QVERIFY2(nest->basis.find("template") == nest->basis.npos, nest->basis.c_str());
        }
    }

    // Steps with wrong numbers, and steps that no compiler wrote: the record's nest or none, never a crash, a hang or
    // more lines than a program has. What is followed has its multiply-adds once.
    void brokenStepsAreSurvived() {
        const TunedRow whole = ansor(
            "['SP', 2, 0, 64, [2, 1, 4], 1], ['SP', 2, 4, 32, [1, 1, 8], 1], ['SP', 2, 8, 16, "
            "[4], 1], ['RE', 2, [0, 4, 1, 5, 8, 2, 6, 9, 3, 7]], ['FSP', 4, 0, 0, 2], ['FSP', "
            "4, 3, 1, 2], ['CHR', 1, 'shared', [2]], ['CA', 2, 3, 1], ['FU', 5, [0, 1]], "
            "['AN', 5, 0, 5], ['FFSP', 2, 0, [1, 0], 1, 1], ['CHW', 3, 'local']");
        QCOMPARE(whole.steps.size(), std::size_t{12});
        RandomStream random(3);
        const auto drawnStep = [&] {
            static constexpr std::array kinds{"SP", "FSP", "FFSP", "RE", "FU", "AN", "PR", "CA", "CHR", "CHW", "RF"};
            TuningStep step;
            // What is not followed is drawn seldom: little would be otherwise.
            step.kind = kinds[static_cast<std::size_t>(random.below(random.below(20) == 0 ? 11 : 10))];
            const auto small = [&] { return static_cast<double>(random.below(5)); };
            step.numbers = {small(), small(), step.kind == "SP" ? 16 : small(), 1 + small()};
            if (step.kind == "AN") step.numbers[2] = std::array{-1.0, 2.0, 10.0, 11.0, 1e18, 0.5}[random.below(6)];
            if (step.kind == "SP") step.list = {1 + small(), 1 + small()};
            if (step.kind == "FU" || step.kind == "RE")
                for (std::size_t i = 0; i < 2 + random.below(3); ++i) step.list.push_back(static_cast<double>(i));
            if (step.kind == "RE" && step.list.size() > 1) std::swap(step.list.front(), step.list.back());
            if (step.kind == "FFSP") step.list = {small()};
            step.word = std::array{"local", "a\nb", "auto_unroll_max_step$1e300"}[random.below(3)];
            return step;
        };
        int followed = 0;
        QElapsedTimer time;
        time.start();
        for (int trial = 0; trial < 3000; ++trial) {
            TunedRow row = whole;
            for (int change = 0; change < 3; ++change) {
                TuningStep& step = row.steps[static_cast<std::size_t>(random.below(row.steps.size()))];
                auto& numbers = random.below(2) == 0 && !step.list.empty() ? step.list : step.numbers;
                const double wrong = std::array{-1.0, 0.0, 1.0, 3.0, 63.0, 70.0, 1e18, 0.5}[random.below(8)];
                if (!numbers.empty()) numbers[static_cast<std::size_t>(random.below(numbers.size()))] = wrong;
                if (random.below(8) == 0) numbers.clear();
            }
            if (trial % 2 == 0) row = whole;
            // One or two steps at some place, again and again.
            for (std::uint64_t added = random.below(3); trial % 3 != 0 && added > 0; --added) {
                const TuningStep one = drawnStep(), other = drawnStep();
                const auto at = static_cast<std::ptrdiff_t>(random.below(row.steps.size() + 1));
                for (std::uint64_t times = 1 + random.below(random.below(4) == 0 ? 30 : 2); times > 0; --times)
                    row.steps.insert(row.steps.begin() + at, {one, other});
            }
            const auto own = ansorNest(row);
            const auto nest = scheduleNestOf(row);
            QVERIFY(nest);  // another where the steps cannot be followed
            QCOMPARE(nest->basis == "The record's own steps", own.has_value());
            followed += own.has_value();
            QVERIFY(!nest->lines.empty() && nest->lines.size() <= 1000);
            int products = 0;
            for (const NestLine& line : nest->lines) {
                QVERIFY(line.depth >= 0 && line.depth < 1000);
                QVERIFY(line.name.size() <= 100 && line.name.find('\n') == line.name.npos);
                products += line.name == "out += in × weights";
            }
            QCOMPARE(products, 1);
            QVERIFY(!codeOf(*nest).empty());
        }
        QVERIFY2(followed > 300 && followed < 2700, qPrintable(QString::number(followed)));
        QVERIFY2(time.elapsed() < 60'000, qPrintable(QString::number(time.elapsed())));
    }

    // What is shown of a feature is what it is, no logarithm; a CPU has no blocks.
    void factsAreReadable() {
        const auto find = [](const std::vector<ScheduleFact>& facts, std::string_view name) {
            for (const ScheduleFact& each : facts)
                if (each.name == name) return each.value;
            return -1.0;
        };
        const auto cpu = scheduleFactsOf(rowOf("dense_nopack.x86", "128x64:float32;768x64:float32;None;float32",
                                               "tile_y=-1,4;tile_x=-1,8;tile_k=-1,16"));
        QCOMPARE(find(cpu, "tile"), 32.0);
        QCOMPARE(find(cpu, "tasks"), 3072.0);
        QCOMPARE(find(cpu, "vector bytes"), 64.0);
        QCOMPARE(find(cpu, "64 B vectors filled"), 1.0);
        QCOMPARE(find(cpu, "blocks"), -1.0);
        const auto gpu = scheduleFactsOf(rowOf("batch_matmul.cuda", "12x128x64:float32;12x64x64:float32;(12 128 64)",
                                               "tile_y=-1,8,4;tile_x=-1,16,2;tile_k=-1,8"));
        QCOMPARE(find(gpu, "threads"), 128.0);
        QCOMPARE(find(gpu, "blocks"), 12.0 * 4 * 2);
        QCOMPARE(find(gpu, "vector bytes"), -1.0);
    }
};

QTEST_GUILESS_MAIN(TestScheduleNest)
#include "tst_schedule_nest.moc"
