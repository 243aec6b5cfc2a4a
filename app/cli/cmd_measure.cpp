#include "app/cli/command.h"
#include "app/cli/evaluation_question.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "base/text/words.h"
#include "base/unit.h"
#include "measurement/cuda.h"
#include "measurement/host.h"
#include "measurement/measure.h"
#include "measurement/workers.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>

namespace orrery::cli {

namespace {

namespace fs = std::filesystem;

std::string dayOfMeasuring() {
    const std::time_t now = std::time(nullptr);
    std::tm day{};
    gmtime_r(&now, &day);
    return fmt::format("{:04}-{:02}-{:02}", day.tm_year + 1900, day.tm_mon + 1, day.tm_mday);
}

/// The GPU's number in `--device cuda:1`; `cuda` is the first.
std::optional<int> gpuAsked(const Arguments& arguments) {
    const std::string device = arguments.value("device").value_or("cpu");
    if (device == "cuda") return 0;
    if (!device.starts_with("cuda:")) return std::nullopt;
    const auto number = wholeIn(device.substr(5));
    return number && *number >= 0 && *number < 1024 ? std::optional<int>(static_cast<int>(*number)) : std::nullopt;
}

std::vector<std::string> wordsOf(const std::string& list) {
    std::vector<std::string> words;
    std::istringstream stream(list);
    for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
    return words;
}

Expected<std::vector<KernelKind>> readKinds(const Arguments& arguments) {
    struct Word {
        std::string_view word;
        std::vector<KernelKind> kinds;
    };
    static const std::vector<Word> known{{"gemm", {KernelKind::Gemm}},
                                         {"attention", {KernelKind::PrefillAttention, KernelKind::DecodeAttention}},
                                         {"softmax", {KernelKind::Softmax}},
                                         {"norm", {KernelKind::Normalization}},
                                         {"elementwise", {KernelKind::Elementwise}},
                                         {"conv", {KernelKind::Convolution}}};
    std::vector<KernelKind> kinds;
    for (const auto& word : wordsOf(arguments.value("kernels").value_or("gemm,elementwise,softmax,norm"))) {
        const auto found = std::find_if(known.begin(), known.end(), [&](const Word& w) { return w.word == word; });
        if (found == known.end()) {
            return fail("usage.kernels", fmt::format("`--kernels` does not know `{}`", word),
                        "gemm, attention, softmax, norm, elementwise, conv, with commas between");
        }
        kinds.insert(kinds.end(), found->kinds.begin(), found->kinds.end());
    }
    return kinds;
}

Expected<std::vector<DType>> readTypes(const Arguments& arguments) {
    std::vector<DType> types;
    for (const auto& word : wordsOf(arguments.value("types").value_or("fp32"))) {
        const auto type = dtype(word);
        const bool known = type && (*type == DType::F32 || *type == DType::BF16 || *type == DType::I8 ||
                                    (*type == DType::F16 && gpuAsked(arguments)));
        if (!known) {
            return fail("usage.types", fmt::format("`--types` does not know `{}`", word),
                        "fp32, bf16, int8; with --device cuda:N fp16 too");
        }
        types.push_back(*type);
    }
    return types;
}

// Every kernel that the model launches, in order, without fusion.
Expected<std::vector<Kernel>> kernelsOfModel(const Arguments& arguments) {
    auto recipe = readRecipe(arguments, *arguments.value("model"));
    if (!recipe) return tl::unexpected(std::move(recipe.error()));
    const auto workload = loadWorkload(*recipe);
    if (!workload) return tl::unexpected(workload.error());
    std::vector<Kernel> kernels;
    const auto& graph = (*workload)->graph;
    const auto& costs = (*workload)->costs;
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
        const Kernel kernel = kernelOf(graph, costs, i);
        if (kernel.kind == KernelKind::Movement || kernel.kind == KernelKind::Other) continue;
        const auto times = std::max<std::int64_t>(1, static_cast<std::int64_t>(costs.repeat[i]));
        kernels.insert(kernels.end(), static_cast<std::size_t>(std::min<std::int64_t>(times, 1000)), kernel);
    }
    return kernels;
}

std::vector<Kernel> distinct(const std::vector<Kernel>& kernels) {
    std::vector<Kernel> all;
    std::set<std::uint64_t> seen;
    for (const Kernel& kernel : kernels) {
        if (seen.insert(kernelIdentity(kernel)).second) all.push_back(kernel);
    }
    return all;
}

Expected<std::vector<Kernel>> kernelsToMeasure(const Arguments& arguments) {
    if (arguments.has("model")) return kernelsOfModel(arguments);
    if (const auto file = arguments.value("shapes")) {
        const auto tables = readReferences(std::span(&*file, 1));
        if (!tables) return tl::unexpected(tables.error());
        std::vector<Kernel> kernels;
        for (const auto& table : *tables) {
            for (const auto& row : table.rows) kernels.push_back(row.kernel);
        }
        return kernels;
    }
    const auto kinds = readKinds(arguments);
    if (!kinds) return tl::unexpected(kinds.error());
    const auto types = readTypes(arguments);
    if (!types) return tl::unexpected(types.error());
    return gpuAsked(arguments) ? usualGpuShapes(*types) : usualShapes(*kinds, *types);
}

Expected<double> readSeconds(const Arguments& arguments) {
    const auto text = arguments.value("seconds");
    if (!text) return 0.25;
    std::istringstream stream(*text);
    double seconds = 0;
    if (stream >> seconds && stream.eof() && seconds > 0 && seconds <= 60) return seconds;
    return fail("usage.number", fmt::format("`--seconds {}` is no time per kernel", *text), "above 0, at most 60");
}

// What the table says its device is: an id, or the design's file as seen from the table's folder, or as a driver says.
Expected<std::string> deviceOfTable(const Arguments& arguments) {
    if (gpuAsked(arguments)) return arguments.value("as").value_or("");
    const auto design = arguments.value("describe"), id = arguments.value("as");
    if (design && id) return fail("usage.twice", "`--describe` and `--as` both say which device it is", "one of them");
    if (id) return *id;
    if (!design) {
        return fail("usage.missing", "nothing says which device the rows are of",
                    "--describe FILE, which draws this machine, or --as ID of a drawing that there is");
    }
    std::error_code ignored;
    const auto folder = fs::absolute(arguments.value("out").value_or("."), ignored).parent_path();
    const auto relative = fs::relative(fs::absolute(*design, ignored), folder, ignored);
    return relative.empty() ? *design : relative.string();
}

Expected<void> checkWords(const Arguments& arguments) {
    const auto device = arguments.value("device").value_or("cpu");
    const bool gpu = gpuAsked(arguments).has_value();
    if (!gpu && device != "cpu") {
        return fail("usage.device", fmt::format("`--device {}` is no device", device),
                    "cpu, or cuda:0 for the first NVIDIA GPU");
    }
    for (const std::string_view option : {"describe", "whole", "cores"}) {
        if (!gpu || !arguments.has(option)) continue;
        return fail("usage.device", fmt::format("`--{}` is of the processor, and {} is asked for", option, device),
                    "no such option", "GPUs are drawn in the catalogue (`orrery-cli hardware`): --as ID");
    }
    if (gpu && arguments.value("kernels").value_or("gemm") != "gemm") {
        return fail("usage.kernels", "of a GPU products alone are measured", "--kernels gemm");
    }
    const auto take = arguments.value("take").value_or("median");
    if (take != "median" && take != "minimum") {
        return fail("usage.take", fmt::format("`--take {}` is no statistic", take), "median or minimum");
    }
    if (arguments.has("model") && arguments.has("shapes")) {
        return fail("usage.twice", "`--model` and `--shapes` both say which kernels are measured", "one of them");
    }
    if (arguments.has("whole") && !arguments.has("model")) {
        return fail("usage.missing", "`--whole` runs a model", "--model");
    }
    if (!arguments.has("out") && !arguments.has("describe") && !arguments.has("whole")) {
        return fail("usage.missing", "nothing is to be written", "--out FILE, --describe FILE or --whole");
    }
    return {};
}

std::string timingText(const Measurement& measurement) {
    Table table({"kernel", "median", "minimum", "spread", "repeats", "by"}, {false, true, true, true, true, false});
    for (const auto& row : measurement.rows) {
        table.add({toText(row.kernel), format(Seconds(row.timing.median)), format(Seconds(row.timing.minimum)),
                   fmt::format("{:.1f} %", 100 * row.timing.spread), std::to_string(row.timing.repeats), row.library});
    }
    return table.text();
}

/// What the rows are of, what runs them, and how: the rest is the same for processors and GPUs.
int measureRows(const Arguments& arguments, Watch& watch, const std::vector<Kernel>& kernels,
                std::span<const KernelLibraryPtr> libraries, const MeasureOptions& options, const std::string& device) {
    watch.begin("measuring kernels");
    const auto measured = measureKernels(distinct(kernels), libraries, options);
    watch.end();
    if (!measured) return failed(measured.error());
    report(measured->warnings);
    const auto statistic =
        arguments.value("take").value_or("median") == "median" ? Statistic::Median : Statistic::Minimum;
    const std::string out = *arguments.value("out");
    if (!writeTo(out, measurementTable(*measured, statistic, device, dayOfMeasuring()))) return Unanswered;
    return out == "-" || print(timingText(*measured)) ? Answered : Unanswered;
}

int measureGpu(const Arguments& arguments, Watch& watch, const std::vector<Kernel>& kernels, MeasureOptions options,
               std::string device) {
    const auto gpu = loadCuda(*gpuAsked(arguments));
    if (!gpu) return failed(gpu.error());
    if (!arguments.has("busy-ok")) {
        if (const auto idle = refuseBusyGpu(*gpu); !idle) return failed(idle.error());
    }
    if (device.empty()) device = gpu->device;
    options.coldBytes = 2 * gpu->l2Bytes;
    return measureRows(arguments, watch, kernels, std::span(&gpu->library, 1), options, device);
}

int runMeasure(const Arguments& arguments, Watch& watch) {
    if (const auto sound = checkWords(arguments); !sound) return failed(sound.error());
    const auto seconds = readSeconds(arguments);
    if (!seconds) return failed(seconds.error());
    const bool rows = arguments.has("out"), whole = arguments.has("whole");
    std::vector<Kernel> kernels;
    std::string device;
    if (rows || whole) {
        auto asked = kernelsToMeasure(arguments);
        if (!asked) return failed(asked.error());
        kernels = std::move(*asked);
    }
    if (rows) {
        auto named = deviceOfTable(arguments);
        if (!named) return failed(named.error());
        device = std::move(*named);
    }
    if (const auto text = arguments.value("cores")) {
        const auto cores = wholeIn(*text);
        if (!cores || *cores < 1 || !useCores(static_cast<std::size_t>(*cores))) {
            return failed(fail("usage.number", fmt::format("`--cores {}` is no number of cores to use", *text),
                               fmt::format("1 to {}", usableCores()))
                              .value());
        }
    }
    MeasureOptions options;
    options.secondsPerKernel = *seconds;
    options.stop = watch.token();
    options.progress = &watch.progress();
    if (gpuAsked(arguments)) return measureGpu(arguments, watch, kernels, std::move(options), std::move(device));
    if (!arguments.has("busy-ok")) {
        if (const auto idle = refuseBusy(hostLoad(), static_cast<std::int64_t>(usableCores())); !idle)
            return failed(idle.error());
    }
    watch.begin("looking at this machine");
    const auto host = describeHost(watch.token());
    watch.end();
    if (!host) return failed(host.error());
    if (const auto design = arguments.value("describe")) {
        if (!writeTo(*design, hostDesign(*host, dayOfMeasuring()))) return Unanswered;
    }
    if (!rows && !whole) return Answered;
    options.coldBytes = 2 * host->lastCacheBytes();
    Diagnostics notes;
    const auto libraries = kernelLibraries(notes);
    report(notes);
    if (rows) {
        const int done = measureRows(arguments, watch, kernels, libraries, options, device);
        if (done != Answered) return done;
    }
    if (!whole) return Answered;
    options.progress = nullptr;
    watch.begin("running the model");
    const auto pass = measurePass(kernels, libraries, options);
    watch.end();
    if (!pass) return failed(pass.error());
    return print(fmt::format("{} kernels one after another: median {}, minimum {}, spread {:.1f} %, {} repeats\n",
                             kernels.size(), format(Seconds(pass->median)), format(Seconds(pass->minimum)),
                             100 * pass->spread, pass->repeats))
               ? Answered
               : Unanswered;
}

std::vector<Option> optionsOfMeasure() {
    std::vector<Option> all{
        {"kernels", "KINDS",
         "gemm, attention, softmax, norm, elementwise, conv, with commas; without it the first, "
         "third, fourth and fifth"},
        {"types", "TYPES", "fp32, bf16, int8, with commas; fp32 if left out; of a GPU fp16 too"},
        {"shapes", "FILE", "the kernels of this table of references instead, whatever it says of their times"},
        {"model", "ID|FILE", "the kernels that this model launches, each on its own and not fused"},
        {"whole", "", "run all kernels of --model one after another too, and print what that takes"},
        {"device", "NAME", "cpu, or cuda:0 for the first NVIDIA GPU, of which products are measured; cpu if left out"},
        {"describe", "FILE", "draw this machine into FILE; the table then names it as its device"},
        {"as", "ID",
         "the device that the table names, where it is drawn already: an id, or a file beside the table; a GPU's "
         "is what its driver calls it if left out"},
        {"cores", "N", "use and draw so many cores; all if left out"},
        {"seconds", "S", "of repeats per kernel; 0.25 if left out"},
        {"take", "WHICH", "median or minimum of the repeats as the time; median if left out"},
        {"busy-ok", "", "measure although other programs run or the clock saves power"},
        {"out", "FILE", "where the table goes (orrery: references/1), - for standard output"}};
    const auto& more = workloadOptions();
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

}  // namespace

const Command measureCommand{
    .name = "measure",
    .summary = "run kernels on this machine and write what they take as a table of references",
    .details =
        "Kernels come from oneDNN 2 or OpenBLAS if they are installed (libdnnl2, libopenblas0), additions from "
        "Orrery itself. Each runs alone on all cores: warm-up, then repeats, of which the table keeps median, minimum, "
        "spread and number. Weights come from memory, activations from where the run before left them. A busy machine "
        "is refused. Products of an NVIDIA GPU are run by its driver and cuBLAS, if these are installed, and timed on "
        "the device.",
    .options = optionsOfMeasure(),
    .examples = {{"orrery-cli measure --describe mine.yaml --out mine-kernels.yaml",
                  "draw this machine and measure usual kernels on it"},
                 {"orrery-cli calibrate --method cpu-roofline --references mine-kernels.yaml --holdout fraction=0.8 "
                  "--out mine.json",
                  "fit the CPU roofline to a fifth of them"},
                 {"orrery-cli measure --device cuda:0 --types bf16,fp16 --as h100-sxm --out mine-gpu.yaml",
                  "products of the first NVIDIA GPU"},
                 {"orrery-cli measure --model mlp.yaml --whole --as mine.yaml", "what a model of these kernels takes"}},
    .run = runMeasure};

}  // namespace orrery::cli
