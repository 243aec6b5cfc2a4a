#include "serving/request_table.h"

namespace orrery {

std::string_view toText(RequestState state) {
    switch (state) {
        case RequestState::Future:
            return "future";
        case RequestState::Waiting:
            return "waiting";
        case RequestState::Running:
            return "running";
        case RequestState::Preempted:
            return "preempted";
        case RequestState::Swapped:
            return "swapped";
        case RequestState::Moving:
            return "moving";
        case RequestState::Done:
            return "done";
        case RequestState::Rejected:
            return "rejected";
    }
    return "";
}

std::string_view toText(RejectReason reason) {
    switch (reason) {
        case RejectReason::None:
            return "none";
        case RejectReason::TooLong:
            return "too long";
        case RejectReason::QueueFull:
            return "queue full";
        case RejectReason::DeadlineMissed:
            return "deadline missed";
        case RejectReason::PredictedMiss:
            return "predicted miss";
        case RejectReason::NoReplica:
            return "no replica";
        case RejectReason::Failed:
            return "failed";
    }
    return "";
}

void RequestTable::reset(const RequestStream& requests) {
    const std::size_t count = requests.size();
    stream = &requests;
    prompt = requests.prompt;
    output = requests.output;
    computed.assign(count, 0);
    generated.assign(count, 0);
    blocks.assign(count, 0);
    state.assign(count, RequestState::Future);
    reason.assign(count, RejectReason::None);
    replica.assign(count, -1);
    decodeOn.assign(count, -1);
    arrived = requests.arrival;
    arrived.resize(count, 0);
    scheduled.assign(count, -1);
    firstToken.assign(count, -1);
    ended.assign(count, -1);
    restarts.assign(count, 0);
    preemptions.assign(count, 0);
    stalls.assign(count, 0);
    lastToken.assign(count, 0);
    lastChunk.assign(count, 0);
    cached.assign(count, 0);
    lostTokens = 0;
}

}  // namespace orrery
