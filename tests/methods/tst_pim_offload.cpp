// Memory that computes as a part of the drawing: what its view reads, prices on its units, the choice between them and
// the device, what is refused, and AttAcc's own runs where they are at hand.

#include "base/text/csv_stream.h"
#include "hardware/files/catalogue.h"
#include "hardware/files/hardware_yaml.h"
#include "hardware/views/gpu_view.h"
#include "methods/kernel_method.h"
#include "methods/pim/pim_units.h"
#include "support/kernel_fixture.h"

#include <QtTest/QtTest>

#include <cmath>
#include <filesystem>
#include <map>

using namespace orrery;

namespace {

constexpr std::string_view pimMethod = "pim-offload";

Hardware presetDesign(const char* id) {
    auto loaded = loadHardware(id);
    if (!loaded) qFatal("%s: %s", id, loaded.error().message.c_str());
    return loaded->hardware;
}
Hardware with(Hardware design, const char* path, const char* value) {
    auto changed = withAttribute(std::move(design), path, value);
    if (!changed) qFatal("%s: %s", path, changed.error().message.c_str());
    return *changed;
}
PimUnits unitsOf(const Hardware& design) {
    auto view = pimView(design);
    if (!view) qFatal("%s", view.error().message.c_str());
    auto units = PimUnits::make(std::move(*view));
    if (!units) qFatal("%s", units.error().message.c_str());
    return *units;
}
Kernel decoding(std::int64_t batch, std::int64_t heads, std::int64_t keys, DType type = DType::F16) {
    Kernel kernel;
    kernel.kind = KernelKind::DecodeAttention;
    kernel.type = kernel.weightType = kernel.kvType = type;
    kernel.attention = {batch, heads, heads, 1, keys, 128, 128};
    countWork(kernel);
    return kernel;
}
KernelPricerPtr pricerOf(const Hardware& design, OptionValues options = {}) {
    const CalibrationSet none;
    const auto place = firstDevice(std::make_shared<const Hardware>(design));
    auto bound = findKernelMethod(pimMethod)->bind(*place, {none, std::move(options)});
    if (!bound) qFatal("%s", bound.error().message.c_str());
    return *bound;
}
QString refusal(const Hardware& design) {
    const CalibrationSet none;
    const auto place = firstDevice(std::make_shared<const Hardware>(design));
    if (!place) return QString::fromStdString(place.error().code);
    const auto bound = findKernelMethod(pimMethod)->bind(*place, {none});
    return bound ? QString() : QString::fromStdString(bound.error().code);
}

}  // namespace

class TestPimOffload : public QObject {
    Q_OBJECT
private slots:
    void theViewCountsWhatIsDrawn() {
        const auto attacc = pimView(presetDesign("dgx-a100-attacc"));
        QVERIFY(attacc);
        // 16 channels × 2 pseudo-channels × 2 ranks × 16 banks; five stacks for each of eight GPUs.
        QCOMPARE(attacc->unitsPerMemory, 1024.0);
        QCOMPARE(attacc->memories, 5.0);
        QVERIFY(attacc->beside);
        QCOMPARE(attacc->link.value, 300e9);
        QCOMPARE(attacc->linkName, std::string("to_attacc"));
        QCOMPARE(attacc->macs[std::size_t(DType::F16)], 4 * 1300e6);
        const auto stack = pimView(presetDesign("mi100-hbm-pim"));
        QVERIFY(stack);
        QVERIFY(!stack->beside);
        QCOMPARE(stack->memories, 4.0);
        QCOMPARE(stack->link.value, 4 * 307.2e9);
        const auto server = pimView(presetDesign("upmem-server"));
        QVERIFY(server);
        QVERIFY(server->processors);
        // Two sockets share twenty modules.
        QCOMPARE(server->memories * server->unitsPerMemory * 2, 2560.0);
    }
    void unitsInTheMemoryAreNoUnitsOfTheDevice() {
        const auto plain = gpuView(presetDesign("mi100"));
        const auto pim = gpuView(presetDesign("mi100-hbm-pim"));
        QVERIFY(plain && pim);
        QCOMPARE(pim->sms, plain->sms);
        QCOMPARE(pim->peak(true, DType::F16), plain->peak(true, DType::F16));
        // What the view reads is not grey; without it, nothing reads the units.
        const auto view = pimView(presetDesign("mi100-hbm-pim"));
        QVERIFY(std::ranges::any_of(view->used.parts, [](const PartRead& part) {
            return std::ranges::find(part.attributes, "macs") != part.attributes.end();
        }));
        QVERIFY(std::ranges::none_of(pim->device.used.parts, [](const PartRead& part) {
            return part.path.size() == 3 && part.path[1] == 0;  // in the memory
        }));
    }
    void attentionByHand() {
        // One head of 128 over 2,048 keys at the banks: 64 keys a group of each channel's 16, two columns a key.
        const auto time = unitsOf(presetDesign("dgx-a100-attacc")).price(decoding(1, 1, 2048));
        QVERIFY(time);
        const auto law = pim::attentionOn({}, pim::UnitPlace::Bank, false, {2048, 1, 128, 2});
        QVERIFY(std::abs(time->units / law->seconds - 1) < 1e-9);
        // A query, a key, a value and a result of 128 elements cross the link before and after the only head.
        QVERIFY(std::abs(time->handedOver - 4 * 128 * 2 / 300e9) < 1e-12);
    }
    void moreIsSlowerAndTheWireIsABound() {
        const Hardware design = presetDesign("dgx-a100-attacc");
        const PimUnits units = unitsOf(design);
        double before = 0;
        for (const std::int64_t keys : {512, 2048, 8192, 32768}) {
            const auto time = units.price(decoding(16, 12, keys));
            QVERIFY(time && time->seconds > before);
            before = time->seconds;
            // No unit reads its bank faster than a column every command interval.
            const double bytes = 2.0 * 16 * 12 * double(keys) * 128 * 2;
            QVERIFY(time->units >= bytes / (5 * 1024 * 32 / (4 * 0.769e-9)));
        }
        const auto capped = unitsOf(with(design, "hbm3_pim.power_cap", "38 W")).price(decoding(16, 12, 8192));
        const auto free = units.price(decoding(16, 12, 8192));
        QVERIFY(capped->seconds > 1.2 * free->seconds && capped->seconds < 1.5 * free->seconds);
        const auto onDie = unitsOf(with(with(design, "gemv.per", "channel"), "gemv.macs.fp16", "16/cycle"));
        QVERIFY(onDie.price(decoding(16, 12, 8192))->seconds > 4 * free->seconds);
        QVERIFY(!units.price(decoding(1, 1, 2048, DType::F32)));
    }
    void theCheaperPlaceIsTaken() {
        const Hardware design = presetDesign("mi100-hbm-pim");
        const auto cheaper = pricerOf(design), none = pricerOf(design, {{"place", "none"}}),
                   attention = pricerOf(design, {{"place", "attention"}});
        for (const Kernel& kernel :
             {decoding(1, 32, 128), decoding(8, 32, 4096), fixture::product(1, 4096, 4096, DType::F16),
              fixture::product(64, 4096, 4096, DType::F16), fixture::product(512, 4096, 4096, DType::F16)}) {
            const KernelPrice best = cheaper->price(kernel), host = none->price(kernel);
            QVERIFY(best.seconds <= host.seconds);
            QVERIFY(best.low <= best.seconds && best.seconds <= best.high);
            if (best.seconds < host.seconds) QVERIFY(best.note >= 0);
            if (kernel.kind == KernelKind::Gemm) QCOMPARE(attention->price(kernel).seconds, host.seconds);
        }
        // A product of many rows is what the device is for.
        const Kernel large = fixture::product(512, 4096, 4096, DType::F16);
        QCOMPARE(cheaper->price(large).seconds, none->price(large).seconds);
        QVERIFY(cheaper->price(decoding(8, 32, 4096)).seconds < none->price(decoding(8, 32, 4096)).seconds);
    }
    void whatIsMissingIsSaid() {
        QCOMPARE(refusal(presetDesign("h100-sxm")), QString("method.not-applicable"));
        const Hardware design = presetDesign("mi100-hbm-pim");
        QCOMPARE(refusal(with(design, "hbm_pim.timing", "no such memory")), QString("pim.timing"));
        QCOMPARE(refusal(with(design, "pim.macs", "")), QString("hardware.missing-attribute"));
    }

    // Attention part of each system run of AttAcc with units at banks, groups or the buffer die, no power limit: ms per
    // token, the mean over the tokens that it generates.
    void attentionOfTheRecordedSystems() {
        const std::string path = std::string(ORRERY_REFERENCE) + "/pim/attacc/system_runs.csv";
        if (!std::filesystem::exists(path)) QSKIP("no reference data here");
        const std::map<std::string, std::pair<int, int>> models{// layers, heads of 128
                                                                {"GPT-175B", {96, 96}},
                                                                {"GPT-89B", {48, 96}},
                                                                {"LLAMA-7B", {32, 32}},
                                                                {"LLAMA-65B", {80, 64}},
                                                                {"GPT-13B", {40, 40}}};
        const Hardware design = presetDesign("dgx-a100-attacc");
        const PimUnits bank = unitsOf(design), capped = unitsOf(with(design, "hbm3_pim.power_cap", "38 W"));
        auto table = CsvStream::open(path);
        std::vector<std::string> head;
        double sum = 0, worst = 0;
        int rows = 0;
        while (*table->next()) {
            std::vector<std::string> cells;
            for (const auto cell : table->cells()) cells.emplace_back(cell);
            if (head.empty()) {
                head = cells;
                continue;
            }
            std::map<std::string, std::string> row;
            for (std::size_t i = 0; i < head.size() && i < cells.size(); ++i) row[head[i]] = cells[i];
            const auto model = models.find(row["model"]);
            if (row["system"] != "dgx-attacc" || row["pim"] != "bank" || model == models.end()) continue;
            const int gpus = std::stoi(row["ngpu"]), in = std::stoi(row["lin"]), out = std::stoi(row["lout"]);
            const DType type = row["word_bytes"] == "1" ? DType::I8 : DType::F16;
            double seconds = 0;
            for (int token = 1; token < out; ++token) {
                const auto one =
                    (row["power_limit"] == "True" ? capped : bank)
                        .price(decoding(std::stoi(row["batch"]), model->second.second / gpus, in + token, type));
                seconds += one->units / (out - 1);
            }
            const double error = std::abs(seconds * model->second.first * 1e3 / std::stod(row["g_matmul"]) - 1);
            sum += error, worst = std::max(worst, error), ++rows;
        }
        qInfo("%d runs, attention per token: mean error %.2f %%, worst %.2f %%", rows, 100 * sum / rows, 100 * worst);
        QVERIFY(rows > 5);
        QVERIFY(sum / rows < 0.02);
    }
};

QTEST_GUILESS_MAIN(TestPimOffload)
#include "tst_pim_offload.moc"
