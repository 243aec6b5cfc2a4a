#include "workload/onnx/import.h"

#include "workload/onnx/batch.h"
#include "workload/onnx/builder.h"
#include "workload/onnx/reader.h"

#include <fmt/format.h>

#include <exception>
#include <filesystem>

namespace orrery {
namespace {

constexpr std::size_t objectionsShown = 5;

void check(const ::onnx::ModelProto& model, const std::string& path, Diagnostics& warnings) {
    onnx_import::Opsets opsets;
    for (const auto& import : model.opset_import()) {
        opsets[import.domain() == "ai.onnx" ? "" : import.domain()] = import.version();
    }
    const auto standard = opsets.find("");
    if (standard == opsets.end()) return;
    if (standard->second > onnx_import::newestKnownOpset()) {
        warnings.push_back(
            Diagnostic{Severity::Note,
                       "onnx.new-opset",
                       fmt::format("operator set {} is newer than libonnx knows ({}), so its checker was skipped",
                                   standard->second, onnx_import::newestKnownOpset()),
                       {},
                       {},
                       Place{path}});
        return;
    }
    for (const std::string& objection : onnx_import::objections(model, opsets, objectionsShown)) {
        warnings.push_back(warning("onnx.checker", "libonnx objects: " + objection, {}, Place{path}));
    }
}

/// `unresolved` operators, in one warning.
void warnOfUnresolved(const Graph& graph, const std::string& path, Diagnostics& warnings) {
    const auto unresolved = graph.unresolved();
    if (unresolved.empty()) return;
    const Operator& first = graph.operators[unresolved.front()];
    warnings.push_back(
        warning("onnx.unresolved",
                fmt::format("the shapes of {} operators depend on data and are not known, first at {} `{}`",
                            unresolved.size(), first.type, first.name),
                "they count as no time", Place{path, 0, 0, first.name}));
}

}  // namespace

Expected<ImportedGraph> importOnnx(const std::string& path, const Bindings& bindings) {
    return importOnnx(path, bindings, 1);
}

Expected<ImportedGraph> importOnnx(const std::string& path, const Bindings& bindings, std::int64_t batch) {
    try {
        auto model = onnx_import::readModel(path);
        if (!model) return tl::unexpected(model.error());
        onnx_import::Builder builder(**model, path, bindings);
        if (!builder.build()) return tl::unexpected(builder.error());
        ImportedGraph imported;
        imported.graph = std::move(builder.graph());
        if (batch > 1) {
            onnx_import::Builder many(**model, path, bindings, batch);
            if (!many.build()) return tl::unexpected(onnx_import::refusedBatch(many.error(), batch));
            if (auto problem = onnx_import::batchProblem(imported.graph, many.graph(), batch, path))
                return tl::unexpected(std::move(*problem));
            imported.graph = std::move(many.graph());
            builder.warnings() = std::move(many.warnings());
        }
        imported.warnings = std::move(builder.warnings());
        imported.name = std::filesystem::path(path).stem().string();
        eliminateDead(imported.graph);
        check(**model, path, imported.warnings);
        warnOfUnresolved(imported.graph, path, imported.warnings);
        return imported;
    } catch (const std::exception& error) {
        return fail("onnx.failed", fmt::format("the model could not be imported: {}", error.what()), "an ONNX model",
                    "export the model again", Place{path});
    }
}

}  // namespace orrery
