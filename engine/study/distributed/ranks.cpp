#include "study/distributed/ranks.h"

#include "base/thread_clock.h"
#include "study/distributed/wire.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <thread>

namespace orrery {

namespace {

using std::chrono::duration;
using std::chrono::microseconds;

// Between two looks at what there is: at once after something came, rarer while nothing does.
class Pause {
public:
    void busy() { microseconds_ = 50; }
    microseconds next() {
        const microseconds now(microseconds_);
        microseconds_ = std::min(microseconds_ * 2, 1000);
        return now;
    }

private:
    int microseconds_ = 50;
};

int processors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    const int mine = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
    return mine > 0 ? mine : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace

Ranks::Ranks(std::unique_ptr<Transport> transport, double timeout)
    : transport_(std::move(transport)), timeout_(timeout), others_(static_cast<std::size_t>(transport_->ranks())) {}

Ranks::~Ranks() {
    finish();
}

int Ranks::threadsHere() const {
    const int mine = processors(), all = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    // A launcher that binds ranks to processors has divided them already.
    return mine < all ? mine : std::max(1, all / std::max(1, transport_->ranksHere()));
}

void Ranks::begin(RankWork work) {
    work_ = std::move(work);
    pool_ = std::make_unique<ItemPool>(work_.threads, work_.answer);
    others_[0].state = State::Ready;
    others_[0].threads = work_.threads;
}

void Ranks::setState(Batches* batches, int rank, State state, std::string why) {
    Other& other = others_[static_cast<std::size_t>(rank)];
    other.state = state;
    other.why = std::move(why);
    if (!batches) return;
    if (state == State::Lost) {
        batches->lose(rank);
        // Those that had nothing to do any more take over.
        for (int each = 0; each < ranks(); ++each) hungry_.push_back(each);
    } else {
        batches->setThreads(rank, other.threads);
        batches->setPace(rank, other.pace);
        hungry_.push_back(rank);
    }
}

std::vector<AnsweredItem> Ranks::hear(Batches& batches) {
    std::vector<AnsweredItem> fresh;
    while (auto message = transport_->receive()) {
        MessageReader reader(message->bytes);
        Other& other = others_[static_cast<std::size_t>(message->from)];
        other.heard = Clock::now();
        const Word word = reader.number<Word>();
        if (word == Word::Hello) {
            other.threads = std::max(1, reader.number<int>());
            if (reader.text() == work_.question) {
                setState(&batches, message->from, State::Ready);
            } else {
                setState(&batches, message->from, State::Lost,
                         "it asks another question: other files, or another build");
                other.threads = 0, other.refused = true;
            }
        } else if (word == Word::Refuse) {
            other.threads = 0, other.refused = true;
            setState(&batches, message->from, State::Lost, std::string(reader.text()));
        } else if (other.threads > 0) {
            if (other.state == State::Lost) setState(&batches, message->from, State::Ready);
            if (word == Word::Beat) transport_->send(message->from, MessageWriter(Word::Beat).bytes());
            if (word != Word::Answers || reader.number<std::uint64_t>() != round_) continue;
            other.pace = reader.number<double>();
            batches.setPace(message->from, other.pace);
            while (!reader.atEnd()) {
                const auto place = reader.number<std::uint64_t>();
                const std::string_view bytes = reader.text();
                if (!reader.good() || !batches.answered(place)) continue;
                fresh.push_back({{place, 0}, std::string(bytes)});
                ++otherItems_;
                if (other.pace > 0) otherItemSeconds_ += other.threads / other.pace;
            }
            hungry_.push_back(message->from);
        }
    }
    return fresh;
}

void Ranks::feed(Batches& batches, int rank, std::span<const std::uint64_t> numbers) {
    const auto places = batches.next(rank);
    if (places.empty()) return;
    if (rank == 0) {
        std::vector<Item> items;
        for (const std::size_t place : places) items.push_back({place, numbers[place]});
        pool_->push(items);
        return;
    }
    MessageWriter batch(Word::Batch);
    batch.add(round_);
    for (const std::size_t place : places) batch.add(Item{place, numbers[place]});
    transport_->send(rank, batch.bytes());
}

void Ranks::judge(Batches& batches) {
    const auto now = Clock::now();
    for (int rank = 1; rank < ranks(); ++rank) {
        const Other& other = others_[static_cast<std::size_t>(rank)];
        if (other.state == State::Lost || duration<double>(now - other.heard).count() < timeout_) continue;
        setState(&batches, rank, State::Lost, fmt::format("no word for {:g} s", timeout_));
    }
}

bool Ranks::answer(std::span<const std::uint64_t> numbers, const Take& take, const std::stop_token& stop) {
    ++round_;
    Batches batches(numbers.size(), ranks());
    hungry_.clear();
    // While rank 0 was busy with other things it heard nobody.
    for (int rank = 0; rank < ranks(); ++rank) {
        Other& other = others_[static_cast<std::size_t>(rank)];
        other.heard = Clock::now();
        if (other.state == State::Ready) setState(&batches, rank, State::Ready);
    }
    Pause pause;
    auto judged = Clock::now();
    bool wanted = true;
    while (!batches.done() && wanted && !stop.stop_requested()) {
        const auto begun = Clock::now();
        const double worked = threadSeconds();
        auto fresh = hear(batches);
        for (AnsweredItem& own : pool_->take())
            if (!own.bytes.empty() && batches.answered(own.item.place)) fresh.push_back(std::move(own));
        if (const std::size_t own = pool_->answered(); own > 0 && pool_->busySeconds() > 0) {
            others_[0].pace = static_cast<double>(own) * pool_->threads() / pool_->busySeconds();
            batches.setPace(0, others_[0].pace);
        }
        hungry_.push_back(0);
        for (const int rank : std::exchange(hungry_, {})) feed(batches, rank, numbers);
        if (!fresh.empty()) {
            items_ += fresh.size();
            wanted = take(fresh);
            pause.busy();
            service_ += threadSeconds() - worked;
            continue;
        }
        if (duration<double>(begun - judged).count() > timeout_ / 8) {
            judge(batches);
            judged = begun;
        }
        pool_->wait(pause.next());
    }
    batchesOut_ += batches.handedOut();
    const bool whole = batches.done() && wanted;
    pool_->clear();
    if (!whole) {
        for (int rank = 1; rank < ranks(); ++rank)
            if (others_[static_cast<std::size_t>(rank)].state == State::Ready)
                transport_->send(rank, MessageWriter(Word::Stop).add(round_).bytes());
    }
    while (!pool_->idle()) std::this_thread::sleep_for(microseconds(200));
    pool_->clear();
    if (whole) awaitFirstWords();
    return whole;
}

RanksReport Ranks::report() const {
    RanksReport report{.batches = batchesOut_, .items = items_, .serviceSeconds = service_};
    for (std::size_t rank = 0; rank < others_.size(); ++rank) {
        const Other& other = others_[rank];
        if (other.state == State::Ready) {
            ++report.ranks;
            report.threads += other.threads;
        } else if (other.state == State::Lost) {
            report.lost.push_back(fmt::format("rank {}: {}", rank, other.why));
        }
    }
    const double own = pool_ ? pool_->busySeconds() : 0;
    const std::size_t answered = otherItems_ + (pool_ ? pool_->answered() : 0);
    if (answered > 0) report.itemSeconds = (own + otherItemSeconds_) / static_cast<double>(answered);
    return report;
}

Expected<void> Ranks::serve(RankWork work, std::stop_source stop) {
    ItemPool pool(work.threads, std::move(work.answer));
    transport_->send(0, MessageWriter(Word::Hello).add(work.threads).addText(work.question).bytes());
    Pause pause;
    std::vector<AnsweredItem> answers;
    auto heard = Clock::now(), said = heard, flushed = heard;
    std::uint64_t round = 0;
    for (;;) {
        while (const auto message = transport_->receive()) {
            heard = Clock::now();
            pause.busy();
            MessageReader reader(message->bytes);
            const Word word = reader.number<Word>();
            if (word == Word::Done) {
                left_ = true;
                stop.request_stop();
                all_ = reader.number<bool>();
                const bool same = reader.number<bool>();
                transport_->leave(all_);
                if (same) return {};
                return fail("ranks.question", "this rank asks another question than rank 0",
                            "the same files and build");
            }
            if (word == Word::Stop || word == Word::Batch) {
                const auto asked = reader.number<std::uint64_t>();
                if (word == Word::Stop || asked != round) pool.clear(), answers.clear();
                round = asked;
                std::vector<Item> items;
                while (word == Word::Batch && !reader.atEnd()) items.push_back(reader.number<Item>());
                if (!items.empty()) pool.push(items);
            }
        }
        if (stop.stop_requested()) {
            pool.clear();
            refuse(fail("ranks.stopped", "it was stopped").value());
            return {};
        }
        for (AnsweredItem& each : pool.take())
            if (!each.bytes.empty()) answers.push_back(std::move(each));
        const auto now = Clock::now();
        const bool due = pool.idle() || duration<double>(now - flushed).count() > 0.25;
        if (!answers.empty() && due) {
            MessageWriter out(Word::Answers);
            const double pace =
                pool.busySeconds() > 0 ? static_cast<double>(pool.answered()) * pool.threads() / pool.busySeconds() : 0;
            out.add(round).add(pace);
            for (const AnsweredItem& each : answers) out.add(each.item.place).addText(each.bytes);
            transport_->send(0, out.bytes());
            answers.clear();
            flushed = said = now;
            pause.busy();
        } else if (duration<double>(now - said).count() > timeout_ / 6) {
            transport_->send(0, MessageWriter(Word::Beat).bytes());
            said = now;
        }
        // Rank 0 may write its exports, or ask an agent, in the meantime.
        if (duration<double>(now - heard).count() > 20 * timeout_) {
            left_ = true;
            all_ = false;
            stop.request_stop();
            transport_->leave(false);
            return fail("ranks.silent", fmt::format("rank 0 has said nothing for {:g} s", 20 * timeout_));
        }
        if (answers.empty()) {
            pool.wait(pause.next());
        } else {
            std::this_thread::sleep_for(pause.next());
        }
    }
}

void Ranks::refuse(const Diagnostic& why) {
    transport_->send(0, MessageWriter(Word::Refuse).addText(why.message).bytes());
    const auto begun = Clock::now();
    while (duration<double>(Clock::now() - begun).count() < 20 * timeout_) {
        while (const auto message = transport_->receive()) {
            MessageReader reader(message->bytes);
            if (reader.number<Word>() != Word::Done) continue;
            left_ = true;
            all_ = reader.number<bool>();
            return transport_->leave(all_);
        }
        std::this_thread::sleep_for(microseconds(1000));
    }
}

// A rank that has not said its first word may be starting, or may be gone: who leaves together with one that is gone
// waits for ever.
void Ranks::awaitFirstWords() {
    Batches none(0, ranks());
    ++round_;  // answers to what was asked are of no use any more
    const auto begun = Clock::now();
    for (;;) {
        hear(none);
        const bool all = std::none_of(others_.begin() + 1, others_.end(),
                                      [](const Other& other) { return other.state == State::Unknown; });
        if (all) return;
        if (duration<double>(Clock::now() - begun).count() > timeout_) break;
        std::this_thread::sleep_for(microseconds(1000));
    }
    for (int rank = 1; rank < ranks(); ++rank) {
        if (others_[static_cast<std::size_t>(rank)].state == State::Unknown)
            setState(nullptr, rank, State::Lost, fmt::format("no word for {:g} s", timeout_));
    }
}

void Ranks::finish() {
    if (std::exchange(left_, true)) return;
    if (rank() != 0) {
        all_ = false;
        return transport_->leave(false);
    }
    if (pool_) awaitFirstWords();
    pool_.reset();
    for (std::size_t rank = 1; rank < others_.size(); ++rank)
        all_ = all_ && (others_[rank].state != State::Lost || others_[rank].refused);
    for (int rank = 1; rank < ranks(); ++rank) {
        const Other& other = others_[static_cast<std::size_t>(rank)];
        const bool same = other.state != State::Lost;
        transport_->send(rank, MessageWriter(Word::Done).add(all_).add(same).bytes());
    }
    transport_->leave(all_);
}

int Ranks::ended(int code) {
    finish();
    if (!all_) transport_->end(code);
    return code;
}

}  // namespace orrery
