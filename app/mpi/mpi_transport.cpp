// Orrery's messages over MPI. Loaded by the command line when a launcher started several ranks.

#include "study/distributed/transport.h"

#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <deque>
#include <memory>
#include <string>

namespace {

constexpr int tag = 7;

class MpiTransport final : public orrery::Transport {
public:
    MpiTransport() {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
        // A rank that is gone is an answer, not the end of this program.
        MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
        MPI_Comm_rank(comm_, &rank_);
        MPI_Comm_size(comm_, &ranks_);
        MPI_Comm here = MPI_COMM_NULL;
        MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
        MPI_Comm_size(here, &ranksHere_);
        MPI_Comm_free(&here);
    }
    int rank() const override { return rank_; }
    int ranks() const override { return ranks_; }
    int ranksHere() const override { return ranksHere_; }

    void send(int to, std::string_view bytes) override {
        sweep();
        Sent& sent = sent_.emplace_back(Sent{std::make_unique<std::string>(bytes), MPI_REQUEST_NULL});
        const int code = MPI_Isend(sent.bytes->data(), static_cast<int>(sent.bytes->size()), MPI_BYTE, to, tag, comm_,
                                   &sent.request);
        if (code != MPI_SUCCESS) sent_.pop_back();
    }

    std::optional<orrery::RankMessage> receive() override {
        int there = 0;
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Status status;
        if (MPI_Improbe(MPI_ANY_SOURCE, tag, comm_, &there, &message, &status) != MPI_SUCCESS || there == 0) {
            sweep();
            return std::nullopt;
        }
        int size = 0;
        MPI_Get_count(&status, MPI_BYTE, &size);
        orrery::RankMessage out{status.MPI_SOURCE, std::string(static_cast<std::size_t>(size), '\0')};
        if (MPI_Mrecv(out.bytes.data(), size, MPI_BYTE, &message, &status) != MPI_SUCCESS) return std::nullopt;
        return out;
    }

    void leave(bool all) override {
        if (all) {
            MPI_Finalize();
            return;
        }
        // To finalise would wait for the lost. What was said last is on its way.
        for (int i = 0; i < 50 && !sent_.empty(); ++i) {
            sweep();
            usleep(2000);
        }
    }

    [[noreturn]] void end(int code) override {
        std::fflush(nullptr);
        MPI_Abort(comm_, code);  // of the launcher's means the only one that reaches a rank that hangs
        _exit(code);
    }

private:
    struct Sent {
        std::unique_ptr<std::string> bytes;
        MPI_Request request;
    };
    // Frees what has arrived; what a lost rank never takes stays.
    void sweep() {
        for (auto each = sent_.begin(); each != sent_.end();) {
            int done = 0;
            const int code = MPI_Test(&each->request, &done, MPI_STATUS_IGNORE);
            each = done != 0 || code != MPI_SUCCESS ? sent_.erase(each) : each + 1;
        }
    }

    MPI_Comm comm_ = MPI_COMM_NULL;
    int rank_ = 0, ranks_ = 1, ranksHere_ = 1;
    std::deque<Sent> sent_;
};

}  // namespace

extern "C" __attribute__((visibility("default"))) orrery::Transport* orrery_transport(const char** reason) {
    int provided = 0;
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
        *reason = "MPI_Init_thread refuses";
        return nullptr;
    }
    if (provided < MPI_THREAD_FUNNELED) {
        *reason = "it has no threads";
        MPI_Finalize();
        return nullptr;
    }
    return new MpiTransport;
}
