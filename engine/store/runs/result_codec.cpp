#include "store/runs/result_codec.h"

#include "store/export/exports.h"
#include "store/export/json_parts.h"
#include "store/runs/stored_result.h"

namespace orrery {

namespace {

constexpr char answered = 'a', refused = 'r';

}  // namespace

ResultCodec resultCodec(const Study& study) {
    ResultCodec codec;
    codec.write = [&study](const StudyResult& result) {
        if (result.estimate) return answered + estimateJson(study.scenarios[result.scenario], *result.estimate);
        const Diagnostic none{Severity::Error, "study.no-answer", "no answer", {}, {}, {}};
        return refused + store::dumped(store::diagnosticJson(result.failure.value_or(none)), -1);
    };
    codec.read = [&study](std::size_t pair, std::string_view bytes) {
        const std::size_t scenario = pair / study.methods.size();
        const std::string& method = study.methods[pair % study.methods.size()];
        const std::string text(bytes.empty() ? bytes : bytes.substr(1));
        const bool whole = !bytes.empty() && bytes.front() == answered;
        auto result = store::resultFrom(scenario, method, whole ? text : std::string(), whole ? std::string() : text);
        return result ? std::move(*result) : StudyResult{scenario, method, nullptr, std::move(result.error())};
    };
    return codec;
}

}  // namespace orrery
