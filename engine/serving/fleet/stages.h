#pragma once

// Pipelines of several models behind one question, such as encode → retrieve → rerank → generate (the class of systems
// that HERMES models). A stage is a request of its own that waits for the one before it, and a tenant that only the
// replicas of its pool serve: queues, batches and failures of every stage are simulated like those of a lone model.

#include "serving/serving_simulation.h"

#include <span>
#include <string>
#include <vector>

namespace orrery {

struct PipelineStage {
    std::string name;         ///< `rerank`
    std::int32_t tenant = 0;  ///< which replicas run it (ReplicaSpec::tenants); a question's own is added
    double ofPrompt = 1;      ///< × the question's tokens …
    std::int32_t added = 0;   ///< … and so many more: passages, instructions
    std::int32_t output = 1;  ///< tokens that it yields; 0: as many as the question asks for
    double pause = 0;         ///< seconds between the end of the stage before it and its own arrival
};

struct PipelineStream {
    RequestStream stream;  ///< question after question, each stage by stage
    std::int32_t stages = 0;
    std::size_t questions() const { return stages > 0 ? stream.size() / static_cast<std::size_t>(stages) : 0; }
};
/// One request per question and stage. Sessions of the questions are kept: a later one waits for the last stage of the
/// one before it. Adapters are of the last stage. Shared prefixes are not carried over. Fails with `serving.stages` on
/// no stage, on shares or tokens that make no sense or exceed 2^30, on more than 2^31 requests, and for closed loops,
/// whose seats count questions.
Expected<PipelineStream> inStages(const RequestStream& questions, std::span<const PipelineStage> stages);

/// What a question saw, seconds; negative: never.
struct PipelineOutcome {
    double arrived = 0;
    double firstToken = -1;  ///< of the last stage, since arrival
    double endToEnd = -1;
    bool done = false;  ///< every stage
};
std::vector<PipelineOutcome> outcomes(const PipelineStream& pipeline, const RequestTable& requests);

/// A stage that is not priced by a model's operators (a vector search, an encoder that was measured): `base` seconds
/// per iteration and so much per token of it. Point interval; the assumption says that a person gave it.
IterationTimePtr affineTime(double base, double perPromptToken, double perDecode);

}  // namespace orrery
