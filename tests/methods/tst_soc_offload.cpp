// A processor that feeds accelerators: what its view reads and refuses, prices between their bounds, parts that add up,
// what each choice brings, and the shares of the time beside those that SMAUG published.

#include "hardware/files/catalogue.h"
#include "hardware/files/hardware_yaml.h"
#include "hardware/views/soc_view.h"
#include "methods/answer/time_parts.h"
#include "methods/live_choice.h"
#include "methods/method.h"
#include "methods/soc/soc_pricer.h"
#include "support/method_fixture.h"
#include "workload/importers.h"

#include <QtTest/QtTest>

#include <cmath>

using namespace orrery;

namespace {

constexpr std::string_view socMethod = "soc-offload";

Hardware preset() {
    auto loaded = loadHardware("nvdla-soc");
    if (!loaded) qFatal("%s", loaded.error().message.c_str());
    return loaded->hardware;
}
Hardware with(Hardware design, const char* path, const char* value) {
    auto changed = withAttribute(std::move(design), path, value);
    if (!changed) qFatal("%s: %s", path, changed.error().message.c_str());
    return *changed;
}
Hardware without(Hardware design, std::string_view name) {
    std::erase_if(design.root.children, [&](const Component& each) { return each.name == name; });
    return design;
}
WorkloadPtr model(const char* id, std::int64_t side = 224) {
    WorkloadRecipe recipe{id, {}};
    recipe.options.batch = 1;
    recipe.options.image = side;
    recipe.options.weights = recipe.options.activations = DType::F16;
    auto workload = loadWorkload(recipe);
    if (!workload) qFatal("%s: %s", id, workload.error().message.c_str());
    return *workload;
}
Expected<Estimate> asked(const Hardware& design, const WorkloadPtr& workload, OptionValues options = {},
                         std::string_view method = socMethod) {
    const auto executor = makeSerialExecutor();
    EstimateContext context{*executor, {}, nullptr, 1};
    context.options = std::move(options);
    return estimate(*findMethod(method), {std::make_shared<const Hardware>(design), workload}, context);
}
Estimate answer(const Hardware& design, const WorkloadPtr& workload, OptionValues options = {},
                std::string_view method = socMethod) {
    auto found = asked(design, workload, std::move(options), method);
    if (!found) qFatal("%s", found.error().message.c_str());
    return *found;
}
QString refusal(const Hardware& design, OptionValues options = {}) {
    const auto found = asked(design, fixture::workloadOf(fixture::chain(2, 64)), std::move(options));
    return found ? QString() : QString::fromStdString(found.error().code);
}
double figure(const Estimate& answer, std::string_view label) {
    for (const Figure& each : answer.figures)
        if (each.label == label) return each.value;
    qFatal("no figure %s", std::string(label).c_str());
    return 0;
}
struct Bill {
    double compute, transfer, preparation, host;
    double sum() const { return compute + transfer + preparation + host; }
};
Bill bill(const Estimate& answer) {
    return {figure(answer, "Computing on nvdla"), figure(answer, "Transfers"), figure(answer, "Data preparation"),
            figure(answer, "Operators on cpu")};
}
std::shared_ptr<const SocPricer> pricer(const Hardware& design, OptionValues options = {}) {
    const CalibrationSet none;
    auto bound = findKernelMethod(socMethod)->bind(*firstDevice(std::make_shared<const Hardware>(design)),
                                                   {none, std::move(options)});
    if (!bound) qFatal("%s", bound.error().message.c_str());
    return std::dynamic_pointer_cast<const SocPricer>(*bound);
}
SocKernel away(const SocPricer& pricer, const Kernel& kernel) {
    const auto serial = makeSerialExecutor();
    PriceContext context{*serial};
    auto found = pricer.away(kernel, context);
    if (!found || !*found) qFatal("stays on the processor");
    return **found;
}
Kernel convolution(std::int64_t side, std::int64_t inputs, std::int64_t outputs, std::int64_t window) {
    Kernel kernel;
    kernel.kind = KernelKind::Convolution;
    kernel.type = kernel.weightType = DType::F16;
    kernel.convolution = {.batch = 1,
                          .inChannels = inputs,
                          .outChannels = outputs,
                          .groups = 1,
                          .height = side,
                          .width = side,
                          .kernelHeight = window,
                          .kernelWidth = window,
                          .outHeight = side,
                          .outWidth = side};
    countWork(kernel);
    return kernel;
}

}  // namespace

class TestSocOffload : public QObject {
    Q_OBJECT
private slots:
    void tilesOfTheAcceleratorAnswerWholeModels() {
        for (const char* name : {"resnet-18", "alexnet"}) {
            const auto found = asked(preset(), model(name), {{"accelerator", "npu-tile"}});
            QVERIFY2(found, found ? "" : toText(found.error()).c_str());
            QVERIFY(figure(*found, "Computing on nvdla") > 0);
        }
    }
    void theViewReadsWhatIsDrawn() {
        const auto view = socView(preset());
        QVERIFY(view);
        QCOMPARE(view->processorName, std::string("cpu"));
        QCOMPARE(view->acceleratorName, std::string("nvdla"));
        QCOMPARE(view->accelerators, 1);
        QCOMPARE(view->inputLanes, 32);
        QCOMPARE(view->outputLanes, 8);
        QCOMPARE(view->buffers.size(), std::size_t(3));
        QCOMPARE(view->line.value, 32.0);
        QCOMPARE(view->cache.value, 2e6);
        QVERIFY(view->shared && view->direct && view->coherent);
        QCOMPARE(view->direct->name, std::string("dma"));
        QCOMPARE(view->coherent->name, std::string("acp"));
        QCOMPARE(socView(with(preset(), "nvdla.count", "4"))->accelerators, 4);
        // No faster than the memory behind it.
        QCOMPARE(socView(with(preset(), "dma.bandwidth", "100 GB/s"))->direct->rate.value, 12.8e9);
        QCOMPARE(socView(with(preset(), "dma.bandwidth", "3 GB/s"))->direct->rate.value, 3e9);
        // A memory that both share needs no link.
        const auto bus = socView(without(preset(), "dma"));
        QVERIFY(bus && bus->direct);
        QCOMPARE(bus->direct->name, std::string("lpddr4"));
    }
    void whatIsNotReadIsGrey() {
        const auto ignored = [](const OptionValues& options, std::string_view part) {
            const Estimate one = answer(preset(), model("resnet-18", 64), options);
            return std::ranges::any_of(one.parts.ignored, [&](const UsedParts::Part& each) {
                return each.path.ends_with(part) && each.attributes.empty();
            });
        };
        QVERIFY(ignored({}, "/acp") && !ignored({}, "/dma") && !ignored({}, "/nvdla"));
        QVERIFY(!ignored({}, "/activation"));
        QVERIFY(ignored({{"transfer", "coherent"}}, "/dma") && !ignored({{"transfer", "coherent"}}, "/acp"));
        QVERIFY(ignored({{"place", "none"}}, "/nvdla"));
    }
    void acceleratorsWrittenOutAreCopies() {
        const Hardware alone = without(without(preset(), "dma"), "acp");
        Hardware two = alone;
        for (const Component& each : alone.root.children)
            if (each.name == "nvdla") two.root.children.push_back(each);
        two.root.children.back().name = "other";
        const auto view = socView(two);
        QVERIFY(view);
        QCOMPARE(view->accelerators, 2);
        const WorkloadPtr net = model("resnet-18", 64);
        QCOMPARE(answer(two, net).latency.value, answer(with(alone, "nvdla.count", "2"), net).latency.value);
        // Links of their own are one way all the same, and that is said.
        Hardware linked = preset();
        Component second;
        for (const Component& each : linked.root.children)
            if (each.name == "nvdla") second = each;
        second.name = "other";
        Component link;
        for (const Component& each : linked.root.children)
            if (each.name == "dma") link = each;
        link.name = "dma2";
        linked.root.children.push_back(second);
        linked.root.children.push_back(link);
        linked = with(linked, "dma2.from", "other");
        const auto shared = socView(linked);
        QVERIFY(shared && shared->accelerators == 2);
        QVERIFY(std::ranges::any_of(shared->assumptions,
                                    [](const std::string& each) { return each.find("`dma2`") != std::string::npos; }));
        // One that differs gets no work, and that is said.
        const auto differs = socView(with(two, "other.clock", "2 GHz"));
        QVERIFY(differs && differs->accelerators == 1 && !differs->assumptions.empty());
    }
    void whatIsMissingIsSaid() {
        QCOMPARE(refusal(preset()), QString());
        QCOMPARE(refusal(without(without(preset(), "nvdla"), "dma")), QString("method.not-applicable"));
        QCOMPARE(refusal(without(preset(), "acp"), {{"transfer", "coherent"}}), QString("soc.no-port"));
        QCOMPARE(refusal(preset(), {{"threads", "16"}}), QString("soc.threads"));
        QCOMPARE(refusal(with(preset(), "core.microarchitecture", "")), QString("core.unknown"));
        QCOMPARE(refusal(preset(), {{"accelerator", "cpu-roofline"}}), QString("soc.accelerator-method"));
        QCOMPARE(refusal(with(preset(), "nvdla.count", "100000000")), QString("soc.accelerators"));
        QCOMPARE(refusal(with(preset(), "nvdla.count", "1024")), QString());
        // An accelerator with a memory of its own, and nothing drawn between the two.
        Hardware apart = without(without(preset(), "dma"), "acp");
        Component memory = *componentAt(apart.root, {0});
        memory.name = "own";
        for (Component& each : apart.root.children)
            if (each.name == "nvdla") each.children.push_back(memory);
        QCOMPARE(refusal(apart), QString("soc.no-way"));
        Hardware bare = preset();
        for (Component& each : bare.root.children)
            if (each.name == "nvdla")
                std::erase_if(each.children, [](const Component& part) { return part.name == "weights"; });
        QCOMPARE(refusal(bare), QString("soc.no-scratchpad"));
    }
    void nothingToOffloadIsTheProcessorAlone() {
        const WorkloadPtr chain = fixture::workloadOf(fixture::chain(6, 4096));
        const WorkloadPtr net = model("resnet-18", 64);
        for (const auto& [workload, options] :
             {std::pair{chain, OptionValues{}}, {net, OptionValues{{"place", "none"}}}}) {
            const Estimate soc = answer(preset(), workload, options),
                           cpu = answer(preset(), workload, {}, "cpu-roofline");
            QCOMPARE(soc.latency.value, cpu.latency.value);
            QCOMPARE(soc.interval.low.value, cpu.interval.low.value);
            QCOMPARE(soc.interval.high.value, cpu.interval.high.value);
            QVERIFY(soc.operators.seconds == cpu.operators.seconds);
            QVERIFY(soc.operators.bytes == cpu.operators.bytes);
        }
        // A design without products gives the accelerator nothing.
        QCOMPARE(bill(answer(preset(), chain)).compute, 0.0);
    }
    void kernelsKeepTheirBounds() {
        for (const auto& options :
             {OptionValues{}, OptionValues{{"buffers", "two"}}, OptionValues{{"transfer", "coherent"}},
              OptionValues{{"buffers", "two"}, {"transfer", "coherent"}, {"threads", "8"}}}) {
            for (const char* count : {"1", "4"}) {
                const auto soc = pricer(with(preset(), "nvdla.count", count), options);
                for (const Kernel& kernel :
                     {convolution(56, 64, 64, 3), convolution(14, 256, 512, 1), convolution(112, 3, 32, 3)}) {
                    const SocKernel one = away(*soc, kernel);
                    const double lanes = std::stod(count);
                    // Never faster than the accelerators alone, nor than their multipliers.
                    QVERIFY(one.bill.seconds >= one.computing / lanes);
                    QVERIFY(one.computing >= kernel.flops / 2 / 256 / 1e9);
                    // Nor than the way alone: all bytes at its rate, or at that of the cache behind the port.
                    const Tiling& t = one.tiling;
                    const double sent = t.input.sent + t.weights.sent + t.output.sent;
                    QVERIFY(one.carrying >= sent / 16e9);
                    // A link carries both ways at once where memory and cache behind it allow; one accelerator with one
                    // buffer has but one transfer at a time.
                    const bool ways = options.contains("buffers") || lanes > 1;
                    QVERIFY(one.bill.seconds >= one.carrying * (ways ? 0.5 : 1 - 1e-9));
                    QVERIFY(one.bill.seconds >= one.copying + one.coherence - 1e-12);
                    QVERIFY(one.bill.seconds <= one.computing + one.carrying + one.copying + one.coherence + 1e-12);
                    QCOMPARE(one.bill.compute + one.bill.transfer + one.bill.preparation, one.bill.seconds);
                    // What goes in is the tensors and the rows that tiles share.
                    QVERIFY(t.input.bytes >= double(t.problem.inRows * t.problem.inColumns * t.problem.inputs) * 2);
                    QCOMPARE(t.output.bytes, double(t.problem.rows * t.problem.columns * t.problem.outputs) * 2);
                }
            }
        }
    }
    void oneTileByHand() {
        // 8 × 8 × 32 to 8 channels, 1 × 1: one tile, sent from where it lies.
        const SocKernel one = away(*pricer(preset()), convolution(8, 32, 8, 1));
        QCOMPARE(one.tiling.invocations, 1.0);
        QCOMPARE(one.copying, 0.0);
        const double in = 8 * 8 * 32 * 2, weights = 32 * 8 * 2, out = 8 * 8 * 8 * 2;
        QVERIFY(std::abs(one.carrying - (3 * 100e-9 + (in + weights + out) / 12.8e9)) < 1e-15);
        const double lines = (56 * (in + weights) + 47 * out) / 32 / 2.5e9;
        QVERIFY(std::abs(one.coherence - lines) < 1e-15);
        QVERIFY(std::abs(one.bill.seconds - one.computing - one.carrying - one.coherence) < 1e-15);
        // Through the port nothing is written back, and its latency is its own.
        const SocKernel port = away(*pricer(preset(), {{"transfer", "coherent"}}), convolution(8, 32, 8, 1));
        QCOMPARE(port.coherence, 0.0);
        QVERIFY(std::abs(port.carrying - (3 * 20e-9 + (in + weights + out) / 16e9)) < 1e-15);
        // With no more than half of it in the cache, the rest comes at the memory's rate.
        const SocKernel half = away(*pricer(with(preset(), "l2.capacity", "2816 B"), {{"transfer", "coherent"}}),
                                    convolution(8, 32, 8, 1));
        QCOMPARE(in + weights + out, 5632.0);
        QVERIFY(std::abs(half.carrying - (3 * 20e-9 + 2816 / 16e9 + 2816 / 12.8e9)) < 1e-15);
    }
    void fusedOperatorsAreNotFree() {
        // 8 results for each of 64 pixels: bias and one operation each, eight lanes of two a cycle at 1 GHz.
        Kernel kernel = convolution(8, 32, 8, 1);
        const SocKernel plain = away(*pricer(preset()), kernel);
        kernel.bias = true;
        kernel.epilogue = {8 * 8 * 8, 1280};
        const SocKernel fused = away(*pricer(preset()), kernel);
        QVERIFY(std::abs(fused.finishing - 2 * 512 / 16e9) < 1e-15);
        QVERIFY(std::abs(fused.operands - 1280 / 12.8e9) < 1e-15);
        QVERIFY(std::abs(fused.bill.compute - plain.bill.compute - fused.finishing) < 1e-15);
        QVERIFY(std::abs(fused.price.seconds - plain.price.seconds - fused.finishing - fused.operands) < 1e-15);
        // Without a vector unit the processor passes over the results, at its memory's bandwidth at best.
        Hardware bare = preset();
        for (Component& each : bare.root.children)
            if (each.name == "nvdla")
                std::erase_if(each.children, [](const Component& part) { return part.name == "activation"; });
        const SocKernel hosted = away(*pricer(bare), kernel);
        QCOMPARE(hosted.finishing, 0.0);
        QVERIFY(hosted.finishingHost > 0);
        QVERIFY(std::abs(hosted.price.seconds - plain.price.seconds - hosted.finishingHost) < 1e-15);
    }
    void matricesLieTheSameForBoth() {
        WorkloadRecipe recipe{"bert-base", {}};
        recipe.options.batch = 1;
        recipe.options.sequence = 128;
        recipe.options.weights = recipe.options.activations = DType::F16;
        const auto bert = loadWorkload(recipe);
        QVERIFY(bert);
        QCOMPARE(answer(preset(), *bert, {{"layout", "processor"}, {"copies", "flow"}}).latency.value,
                 answer(preset(), *bert, {{"copies", "flow"}}).latency.value);
    }
    void anyArrayMethodPricesTheTiles() {
        for (const char* method : {"systolic-closed-form", "systolic-cycle", "npu-tile", "loop-nest", "data-centric"}) {
            const auto soc = pricer(preset(), {{"accelerator", method}});
            Kernel kernel = convolution(14, 64, 64, 3);
            const SocKernel half = away(*soc, kernel);
            QVERIFY2(half.computing >= kernel.flops / 2 / 256e9 && half.computing < 4 * kernel.flops / 2 / 256e9,
                     method);
            // What is not the array's type is computed as its own, and carried as it is.
            kernel.type = kernel.weightType = DType::BF16;
            QCOMPARE(away(*soc, kernel).computing, half.computing);
            kernel.type = kernel.weightType = DType::F32;
            QCOMPARE(away(*soc, kernel).tiling.output.bytes, 2 * half.tiling.output.bytes);
        }
    }
    void thePartsAddUp() {
        for (const auto& options :
             {OptionValues{}, OptionValues{{"layout", "processor"}}, OptionValues{{"buffers", "two"}, {"threads", "4"}},
              OptionValues{{"streams", "on"}}}) {
            const Estimate one = answer(preset(), model("resnet-18", 64), options);
            const Bill parts = bill(one);
            QVERIFY(std::abs(parts.sum() / one.latency.value - 1) < 1e-9);
            double divided = 0;
            for (const Figure* each : partsOfTime(one)) divided += each->value;
            QCOMPARE(partsOfTime(one).size(), std::size_t(4));
            QVERIFY(std::abs(divided / one.latency.value - 1) < 1e-9);
            QVERIFY(parts.compute > 0 && parts.transfer > 0 && parts.preparation > 0 && parts.host > 0);
            double operators = 0;
            for (const double each : one.operators.seconds) operators += each;
            QVERIFY(std::abs(operators / one.latency.value - 1) < 1e-9);
            QCOMPARE(one.timeline.rows.size(), std::size_t(4));
            std::vector<double> drawn(4);
            for (const TimelineSpan& span : one.timeline.spans)
                drawn[std::size_t(span.row)] += double(span.endPs - span.startPs) * 1e-12;
            QVERIFY(!one.timeline.truncated);
            QVERIFY(std::abs(drawn[0] / parts.host - 1) < 0.02);
            QVERIFY(drawn[3] >= parts.compute * 0.999);
        }
    }
    void everyChoiceHelpsOrCosts() {
        const WorkloadPtr net = model("resnet-18", 128);
        const double usual = answer(preset(), net).latency.value;
        QVERIFY(answer(preset(), net, {{"buffers", "two"}}).latency.value <= usual);
        QVERIFY(answer(preset(), net, {{"weights", "ahead"}}).latency.value < usual);
        QVERIFY(answer(preset(), net, {{"place", "cheaper"}}).latency.value <= usual);
        QVERIFY(answer(preset(), net, {{"transfer", "coherent"}}).latency.value < usual);
        QVERIFY(answer(preset(), net, {{"layout", "processor"}}).latency.value > usual);
        double before = usual;
        for (const char* threads : {"2", "4", "8"}) {
            const double seconds = answer(preset(), net, {{"threads", threads}}).latency.value;
            QVERIFY(seconds <= before);
            before = seconds;
        }
        QCOMPARE(answer(preset(), net, {{"threads", "all"}}).latency.value, before);
        double last = 1e300;
        for (const char* rate : {"1 GB/s", "2 GB/s", "6 GB/s", "12.8 GB/s"}) {
            const double seconds = answer(with(preset(), "dma.bandwidth", rate), net).latency.value;
            QVERIFY(seconds < last);
            last = seconds;
        }
        last = 1e300;
        for (const char* count : {"1", "2", "4", "8"}) {
            const double seconds = answer(with(preset(), "nvdla.count", count), net).latency.value;
            QVERIFY(seconds <= last);
            last = seconds;
        }
        QVERIFY(answer(with(preset(), "nvdla.count", "4"), net).latency.value >= usual / 4);
        // The bound holds for every choice: it is of the better place for each kernel.
        const double bound = answer(preset(), net).bound->value;
        QVERIFY(bound > 0);
        for (const auto& options :
             {OptionValues{{"buffers", "two"}, {"transfer", "coherent"}, {"threads", "8"}, {"weights", "ahead"}},
              OptionValues{{"place", "cheaper"}}})
            QVERIFY(answer(preset(), net, options).latency.value >= bound);
    }
    void imagesAreLaidOutWhereTheyCross() {
        // One image enters; the processor's own operators add crossings only in their own layout.
        const auto laidOut = [](const Estimate& one) {
            for (const std::string& each : one.assumptions)
                if (each.find("laid out anew where they cross between") != std::string::npos) return std::stoi(each);
            return 0;
        };
        const WorkloadPtr net = model("resnet-18", 64);
        QCOMPARE(laidOut(answer(preset(), net)), 1);
        // The pooled image between the first two convolutions crosses twice more, and the last one once.
        QVERIFY(laidOut(answer(preset(), net, {{"layout", "processor"}})) > 3);
        QCOMPARE(laidOut(answer(preset(), net, {{"place", "none"}})), 0);
    }
    void gradientsAreNotLaidOutAndThatIsSaid() {
        const auto executor = makeSerialExecutor();
        EstimateContext context{*executor, {}, nullptr, 1};
        context.options = {{"copies", "flow"}};
        const auto design = std::make_shared<const Hardware>(preset());
        const WorkloadPtr net = model("resnet-18", 64);
        const auto said = [&](const Scenario& scenario) {
            const auto found = estimate(*findMethod(socMethod), scenario, context);
            if (!found) qFatal("%s", found.error().message.c_str());
            return std::ranges::any_of(found->assumptions, [](const std::string& each) {
                return each.find("of the forward pass: gradients") != std::string::npos;
            });
        };
        QVERIFY(!said({design, net}));
        QVERIFY(said({design, net, {}, TrainingStep{}}));
    }
    void aFirstOrderIsNear() {
        const WorkloadPtr net = model("resnet-50");
        const OptionValues flow{{"copies", "flow"}};
        QVERIFY(answersLive(findMethod(socMethod)->card, flow));
        QVERIFY(!answersLive(findMethod(socMethod)->card, {}));
        const Estimate near = answer(preset(), net, flow), windows = answer(preset(), net);
        const double ratio = bill(near).preparation / bill(windows).preparation;
        QVERIFY2(std::abs(ratio - 1) < 0.1, qPrintable(QString::number(ratio)));
    }
    void sameAnswerAtAnyThreadCount() {
        const WorkloadPtr net = model("resnet-18", 64);
        const Estimate serial = answer(preset(), net);
        const auto executor = makeThreadExecutor(4);
        EstimateContext context{*executor, {}, nullptr, 1};
        const auto many = estimate(*findMethod(socMethod), {std::make_shared<const Hardware>(preset()), net}, context);
        QVERIFY(many);
        QCOMPARE(many->latency.value, serial.latency.value);
        QCOMPARE(many->interval.low.value, serial.interval.low.value);
        QCOMPARE(many->interval.high.value, serial.interval.high.value);
        QVERIFY(many->operators.seconds == serial.operators.seconds);
        QVERIFY(many->operators.bytes == serial.operators.bytes);
        QVERIFY(many->assumptions == serial.assumptions);
        QCOMPARE(many->figures.size(), serial.figures.size());
        for (std::size_t i = 0; i < serial.figures.size(); ++i) {
            QCOMPARE(many->figures[i].label, serial.figures[i].label);
            QCOMPARE(many->figures[i].value, serial.figures[i].value);
        }
        QVERIFY(many->timeline.rows == serial.timeline.rows);
        QCOMPARE(many->timeline.spans.size(), serial.timeline.spans.size());
        for (std::size_t i = 0; i < serial.timeline.spans.size(); ++i) {
            const TimelineSpan &a = many->timeline.spans[i], &b = serial.timeline.spans[i];
            QVERIFY(a.row == b.row && a.startPs == b.startPs && a.endPs == b.endPs);
        }
    }
    void energyOfDrawnParts() {
        QVERIFY(!answer(preset(), model("resnet-18", 64)).energy);
        Hardware design = with(with(with(preset(), "mac.energy", "0.5 pJ/FLOP"), "lpddr4.energy", "40 pJ/B"),
                               "sse.energy", "5 pJ/FLOP");
        const SocKernel one = away(*pricer(design), convolution(8, 32, 8, 1));
        // A multiply-accumulate is two operations; one tile is not copied.
        const double macs = 8.0 * 8 * 32 * 8;
        QVERIFY(std::abs(one.price.joules - (macs * 1e-12 + 5632 * 40e-12)) < 1e-15);
        const Estimate whole = answer(design, model("resnet-18", 64));
        QVERIFY(whole.energy && whole.energy->value > 0);
    }
    void sharesBesideThePublishedOnes() {
        // Xi et al. (abstract): of single-batch latency the accelerator may make up only 25 to 40 %. Nothing was set to
        // meet that; what comes out is printed, held to the sentence that it is less than half, and to the table of the
        // handbook and the ranges of the card, which are rounded to a point.
        struct Row {
            const char *id, *fusion;
            std::array<double, 5> shares;  // computing, transfers, preparation, processor; computing over the port
        };
        const Row table[] = {
            {"alexnet", "epilogue", {13, 8, 79, 0, 34}},    {"vgg-16", "epilogue", {24, 9, 67, 0, 48}},
            {"resnet-50", "epilogue", {24, 10, 66, 0, 49}}, {"mobilenet-v2", "epilogue", {15, 8, 75, 3, 37}},
            {"alexnet", "none", {13, 8, 79, 0, 34}},        {"vgg-16", "none", {23, 9, 66, 1, 47}},
            {"resnet-50", "none", {22, 9, 65, 4, 44}},      {"mobilenet-v2", "none", {10, 8, 73, 9, 25}},
        };
        for (const auto& [id, fusion, shares] : table) {
            const WorkloadPtr net = model(id);
            const Estimate dma = answer(preset(), net, {{"fusion", fusion}}),
                           acp = answer(preset(), net, {{"fusion", fusion}, {"transfer", "coherent"}});
            const Bill a = bill(dma), b = bill(acp);
            const std::array found{a.compute / a.sum(), a.transfer / a.sum(), a.preparation / a.sum(), a.host / a.sum(),
                                   b.compute / b.sum()};
            qInfo(
                "%-12s fusion=%-8s dma %7.1f ms: computing %4.1f, transfers %4.1f, preparation %4.1f, processor "
                "%4.1f %%; coherent port %7.1f ms: computing %4.1f %%",
                id, fusion, 1e3 * dma.latency.value, 100 * found[0], 100 * found[1], 100 * found[2], 100 * found[3],
                1e3 * acp.latency.value, 100 * found[4]);
            for (std::size_t i = 0; i < found.size(); ++i)
                QVERIFY2(std::abs(100 * found[i] - shares[i]) < 0.6, qPrintable(QString("%1 %2").arg(id).arg(i)));
            QVERIFY(found[0] < 0.5);
        }
    }
};

QTEST_GUILESS_MAIN(TestSocOffload)
#include "tst_soc_offload.moc"
