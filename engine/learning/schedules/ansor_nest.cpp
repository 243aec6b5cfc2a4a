// The steps of an Ansor record replayed (TVM, src/auto_scheduler/transform_step.cc): which loops each stage has, what
// they are bound to, and at which loop of another stage it is computed.

#include "base/text/words.h"
#include "learning/schedules/nest_maker.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <string_view>
#include <utility>

namespace orrery {

namespace {

constexpr std::size_t stagesAtFirst = 64, mostLoops = 64, mostSteps = 4096, mostLines = 1000;
constexpr std::size_t longestName = 64, longestScope = 32;
constexpr int mostDeep = 16;  // stages in each other

struct ReplayedStage;
struct ReplayedLoop {
    MadeLoop made;
    std::vector<ReplayedStage*> inside;  ///< stages that are computed in it
};
using ReplayedLoopPtr = std::shared_ptr<ReplayedLoop>;
struct ReplayedStage {
    std::vector<ReplayedLoopPtr> loops;
    ReplayedStage* at = nullptr;
    std::string does = "write the results";
    bool reads = false;
};

// A name of a name of a name would double with each step.
std::string shortName(std::string name) {
    return name.size() > longestName ? "elements" : std::move(name);
}

// A scope as the record writes it may hold anything, an end of a line too: TVM's own are words of ASCII.
std::string scopeOf(std::string_view word) {
    std::string scope(word.substr(0, longestScope));
    for (char& each : scope)
        if (each < ' ' || each > '~') each = '?';
    return scope;
}

double stepsOf(const MadeLoop& loop) {
    return std::accumulate(loop.extents.begin(), loop.extents.end(), 1.0, std::multiplies<>());
}

class Replay {
public:
    explicit Replay(const TunedRow& row) : row_(row) {
        for (std::size_t i = 0; i < stagesAtFirst; ++i) stages_.push_back(newStage());
        learnDimensions();
    }

    std::optional<ScheduleNest> made() {
        if (row_.steps.size() > mostSteps) return {};
        for (const TuningStep& step : row_.steps)
            if (!apply(step)) return {};
        if (!main_) return {};
        ReplayedStage* root = main_;
        for (std::size_t i = 0; root->at && i < stagesAtFirst; ++i) root = root->at;
        if (root->at || !inferBounds(*root)) return {};
        LoopWriter out(row_.work);
        if (!write(*root, out, 0)) return {};
        ScheduleNest nest;
        nest.lines = out.take();
        nest.basis = "The record's own steps";
        nest.unroll = unroll_;
        return nest;
    }

private:
    ReplayedStage* newStage() {
        all_.push_back(std::make_unique<ReplayedStage>());
        return all_.back().get();
    }

    static bool isOf(const TuningStep& step, double stage) {
        return step.kind == "SP" && step.numbers.size() >= 3 && step.numbers[0] == stage;
    }
    // Which dimension each split of the stage with most of them is of: as in ansor_record.cpp.
    void learnDimensions() {
        std::array<std::size_t, stagesAtFirst> counts{};
        for (const TuningStep& step : row_.steps)
            if (step.kind == "SP" && step.numbers.size() >= 3 && step.numbers[0] >= 0 &&
                step.numbers[0] < stagesAtFirst)
                ++counts[static_cast<std::size_t>(step.numbers[0])];
        const auto stage = static_cast<double>(std::max_element(counts.begin(), counts.end()) - counts.begin());
        std::vector<std::size_t> spatial, reduced;
        std::size_t deepest = 0;
        for (const TuningStep& step : row_.steps)
            if (isOf(step, stage)) deepest = std::max(deepest, step.list.size());
        for (std::size_t i = 0; i < row_.steps.size(); ++i) {
            const TuningStep& step = row_.steps[i];
            if (isOf(step, stage)) (step.list.size() == deepest ? spatial : reduced).push_back(i);
        }
        mainSplits_ = spatial;
        mainSplits_.insert(mainSplits_.end(), reduced.begin(), reduced.end());
        using D = NestDimension;
        std::vector<D> dimensions;
        const TensorWork& w = row_.work;
        const auto extent = [&](const std::vector<std::size_t>& splits, std::size_t i) {
            return row_.steps[splits[i]].numbers[2];
        };
        if (w.product && spatial.size() >= 2) {
            if (spatial.size() == 3) dimensions.push_back(D::Batch);
            dimensions.insert(dimensions.end(), {D::Rows, D::Outputs, D::Inputs});
        } else if (spatial.size() == 4) {
            const bool last = extent(spatial, 3) == w.outputs && extent(spatial, 1) == w.rows;
            dimensions = last ? std::vector{D::Batch, D::Rows, D::Columns, D::Outputs}
                              : std::vector{D::Batch, D::Outputs, D::Rows, D::Columns};
            if (!last && !w.depthwise) dimensions.push_back(D::Inputs);
            dimensions.insert(dimensions.end(), {D::KernelRows, D::KernelColumns});
            if (last && !w.depthwise) dimensions.push_back(D::Inputs);
        }
        if (dimensions.size() == mainSplits_.size()) dimensions_ = std::move(dimensions);
    }
    std::optional<NestDimension> dimensionOf(std::size_t step) const {
        const auto found = std::find(mainSplits_.begin(), mainSplits_.end(), step);
        if (found == mainSplits_.end() || dimensions_.empty()) return {};
        return dimensions_[static_cast<std::size_t>(found - mainSplits_.begin())];
    }

    // A stage that is computed at a loop of another makes only what one run of that loop needs: its outer loops shrink
    // to one step. From the root to the multiply-adds; false where a stage on the way has loops of unknown extent.
    bool inferBounds(ReplayedStage& root) {
        std::vector<ReplayedStage*> way{main_};
        while (way.back() != &root) way.push_back(way.back()->at);
        for (std::size_t k = way.size() - 1; k > 0; --k) {
            const ReplayedStage& outer = *way[k];
            ReplayedStage& inner = *way[k - 1];
            NestExtents needed = noExtents;
            bool inside = false;
            for (const ReplayedLoopPtr& loop : outer.loops) {
                if (!loop->made.known) return false;
                for (std::size_t d = 0; inside && d < nestDimensions; ++d) needed[d] *= loop->made.extents[d];
                inside |= std::count(loop->inside.begin(), loop->inside.end(), &inner) > 0;
            }
            for (const NestDimension dimension :
                 {NestDimension::Batch, NestDimension::Rows, NestDimension::Columns, NestDimension::Outputs})
                shrink(inner, static_cast<std::size_t>(dimension), needed[static_cast<std::size_t>(dimension)]);
        }
        return true;
    }
    static void shrink(ReplayedStage& stage, std::size_t dimension, double needed) {
        double times = 1 / needed;
        for (const ReplayedLoopPtr& loop : stage.loops) times *= loop->made.extents[dimension];
        for (const ReplayedLoopPtr& loop : stage.loops) {
            double& extent = loop->made.extents[dimension];
            const double before = extent;
            extent = std::max(1.0, std::ceil(extent / std::max(times, 1.0) - 1e-9));
            times /= before / extent;
        }
    }

    ReplayedLoopPtr* loopAt(ReplayedStage& stage, double place) {
        if (!(place >= 0 && place < mostLoops)) return nullptr;
        const auto at = static_cast<std::size_t>(place);
        while (stage.loops.size() <= at) {
            stage.loops.push_back(std::make_shared<ReplayedLoop>());
            stage.loops.back()->made.known = false;
            stage.loops.back()->made.name = fmt::format("i{}", stage.loops.size() - 1);
        }
        return &stage.loops[at];
    }

    // In place of a loop: the outer part that is left of `extent`, then `lengths`. What was computed in it is in the
    // innermost.
    bool split(ReplayedStage& stage, double place, double extent, const std::vector<double>& lengths,
               std::optional<NestDimension> dimension) {
        ReplayedLoopPtr* loop = loopAt(stage, place);
        if (!loop || lengths.size() + stage.loops.size() > mostLoops) return false;
        const ReplayedLoopPtr before = *loop;
        double rest = extent;
        for (const double length : lengths) {
            if (!(length >= 1)) return false;
            rest /= length;
        }
        std::vector<double> parts{std::max(1.0, std::ceil(rest))};
        parts.insert(parts.end(), lengths.begin(), lengths.end());
        std::vector<ReplayedLoopPtr> made;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            made.push_back(std::make_shared<ReplayedLoop>());
            MadeLoop& part = made.back()->made;
            const NestDimension told = dimension.value_or(NestDimension::Rows);
            part.extents[static_cast<std::size_t>(told)] = parts[i];
            part.name = dimension ? loopName(told, i) : shortName(fmt::format("{}_{}", before->made.name, i));
        }
        made.back()->inside = before->inside;
        const auto at = stage.loops.erase(stage.loops.begin() + static_cast<std::ptrdiff_t>(place));
        stage.loops.insert(at, made.begin(), made.end());
        return true;
    }

    bool fuse(ReplayedStage& stage, const std::vector<double>& places) {
        if (places.empty()) return true;
        auto fused = std::make_shared<ReplayedLoop>();
        const double first = places.front();
        for (std::size_t i = 0; i < places.size(); ++i) {
            ReplayedLoopPtr* loop = loopAt(stage, places[i]);
            if (!loop || places[i] != first + static_cast<double>(i)) return false;
            const MadeLoop& one = (*loop)->made;
            fused->made.known &= one.known;
            const bool counts = !one.known || stepsOf(one) != 1;
            if (counts)
                fused->made.name = shortName(fused->made.name + (fused->made.name.empty() ? "" : "·") + one.name);
            for (std::size_t d = 0; d < nestDimensions; ++d) fused->made.extents[d] *= one.extents[d];
            fused->inside.insert(fused->inside.end(), (*loop)->inside.begin(), (*loop)->inside.end());
        }
        if (!fused->made.known) fused->made.name = "elements";
        const auto at = stage.loops.begin() + static_cast<std::ptrdiff_t>(first);
        *at = fused;
        stage.loops.erase(at + 1, at + static_cast<std::ptrdiff_t>(places.size()));
        return true;
    }

    bool reorder(ReplayedStage& stage, const std::vector<double>& order) {
        if (order.empty() || order.size() > mostLoops) return false;
        loopAt(stage, static_cast<double>(order.size() - 1));
        std::vector<ReplayedLoopPtr> made;
        for (const double each : order) {
            if (!(each >= 0 && each < static_cast<double>(stage.loops.size()))) return false;
            made.push_back(stage.loops[static_cast<std::size_t>(each)]);
        }
        for (const ReplayedLoopPtr& each : stage.loops)
            if (std::count(made.begin(), made.end(), each) != 1) return false;
        stage.loops = std::move(made);
        return true;
    }

    static void annotate(MadeLoop& loop, double code) {
        static constexpr std::array<std::pair<LoopMark, std::string_view>, 11> marks{
            {{LoopMark::Serial, ""},
             {LoopMark::Unrolled, ""},
             {LoopMark::Vectorized, ""},
             {LoopMark::Parallel, ""},
             {LoopMark::VirtualThread, "vthread"},
             {LoopMark::Block, "blockIdx.x"},
             {LoopMark::Thread, "threadIdx.x"},
             {LoopMark::Block, "blockIdx.y"},
             {LoopMark::Thread, "threadIdx.y"},
             {LoopMark::Block, "blockIdx.z"},
             {LoopMark::Thread, "threadIdx.z"}}};
        if (!(code >= 0 && code < static_cast<double>(marks.size()))) return;
        loop.mark = marks[static_cast<std::size_t>(code)].first;
        loop.axis = marks[static_cast<std::size_t>(code)].second;
    }

    bool apply(const TuningStep& step) {
        const std::size_t number = at_++;
        const auto& n = step.numbers;
        if (n.empty() || !(n[0] >= 0 && n[0] < static_cast<double>(stages_.size()))) return false;
        const auto place = static_cast<std::size_t>(n[0]);
        ReplayedStage& stage = *stages_[place];
        if (step.kind == "SP") {
            const auto dimension = dimensionOf(number);
            if (dimension) main_ = &stage;
            if (n.size() < 3) return false;
            return split(stage, n[1], n[2], step.list, dimension);
        }
        if (step.kind == "FSP") return followSplit(stage, n);
        if (step.kind == "FFSP") {
            if (n.size() < 4 || !loopAt(stage, n[1])) return false;
            double length = 1;
            for (const double source : step.list) {
                if (!(source >= 0 && source < static_cast<double>(number))) return false;
                const auto& lengths = row_.steps[static_cast<std::size_t>(source)].list;
                if (!(n[2] >= 0 && n[2] < static_cast<double>(lengths.size()))) return false;
                length *= lengths[static_cast<std::size_t>(n[2])];
            }
            const MadeLoop& whole = (*loopAt(stage, n[1]))->made;
            const double extent = whole.known ? stepsOf(whole) : length;
            return split(stage, n[1], extent, {n[3] != 0 ? length : std::ceil(extent / length)}, {});
        }
        if (step.kind == "RE") return reorder(stage, step.list);
        if (step.kind == "FU") return fuse(stage, step.list);
        if (step.kind == "AN") {
            ReplayedLoopPtr* loop = n.size() >= 3 ? loopAt(stage, n[1]) : nullptr;
            if (loop) annotate((*loop)->made, n[2]);
            return loop != nullptr;
        }
        if (step.kind == "PR") {
            const auto dollar = step.word.find('$');
            if (step.word.starts_with("auto_unroll_max_step") && dollar != step.word.npos)
                unroll_ = numberIn(std::string_view(step.word).substr(dollar + 1)).value_or(0);
            return true;
        }
        if (step.kind == "CA") {
            if (n.size() < 3 || !(n[1] >= 0 && n[1] < static_cast<double>(stages_.size()))) return false;
            ReplayedStage& target = *stages_[static_cast<std::size_t>(n[1])];
            ReplayedLoopPtr* loop = loopAt(target, n[2]);
            if (!loop || &target == &stage) return false;
            leave(stage);
            (*loop)->inside.push_back(&stage);
            stage.at = &target;
            return true;
        }
        if (step.kind == "CHR" || step.kind == "CHW") {
            ReplayedStage* made = newStage();
            const bool reads = step.kind == "CHR";
            made->reads = reads;
            made->does = scopeOf(step.word) + (reads ? " ← a tile of an input" : " ← results");
            stages_.insert(stages_.begin() + static_cast<std::ptrdiff_t>(place + (reads ? 1 : 0)), made);
            return stages_.size() < 2 * stagesAtFirst;
        }
        return step.kind == "CI" || step.kind == "CR";
    }

    // A stage is computed at one place: a later step moves it.
    static void leave(ReplayedStage& stage) {
        if (!stage.at) return;
        for (const ReplayedLoopPtr& loop : stage.at->loops) std::erase(loop->inside, &stage);
        stage.at = nullptr;
    }

    // The first parts of another split, and what is left of it as one.
    bool followSplit(ReplayedStage& stage, const std::vector<double>& n) {
        if (n.size() < 4 || !(n[2] >= 0 && n[2] < static_cast<double>(row_.steps.size()))) return false;
        const auto source = static_cast<std::size_t>(n[2]);
        const TuningStep& told = row_.steps[source];
        if (told.kind != "SP" || told.numbers.size() < 3 || !(n[3] >= 1 && n[3] <= mostLoops)) return false;
        const auto parts = std::min(static_cast<std::size_t>(n[3]), told.list.size());
        if (parts == 0) return false;
        std::vector<double> lengths(told.list.begin(), told.list.begin() + static_cast<std::ptrdiff_t>(parts - 1));
        lengths.push_back(std::accumulate(told.list.begin() + static_cast<std::ptrdiff_t>(parts - 1), told.list.end(),
                                          1.0, std::multiplies<>()));
        return split(stage, n[1], told.numbers[2], lengths, dimensionOf(source));
    }

    // False where the program is longer or deeper than any that Ansor makes.
    bool write(const ReplayedStage& stage, LoopWriter& out, int depth) {
        written_ += stage.loops.size() + 1;
        if (depth > mostDeep || written_ > mostLines) return false;
        const std::size_t open = out.open();
        for (const ReplayedLoopPtr& loop : stage.loops) {
            out.loop(loop->made);
            // What is read stands before what reads it.
            for (const bool reads : {true, false})
                for (const ReplayedStage* each : loop->inside)
                    if (each->reads == reads && !write(*each, out, depth + 1)) return false;
        }
        &stage == main_ ? out.multiplyAdd() : out.statement(stage.does);
        out.closeTo(open);
        return true;
    }

    const TunedRow& row_;
    std::vector<std::unique_ptr<ReplayedStage>> all_;
    std::vector<ReplayedStage*> stages_;
    std::vector<std::size_t> mainSplits_;
    std::vector<NestDimension> dimensions_;
    ReplayedStage* main_ = nullptr;
    std::size_t at_ = 0, written_ = 0;
    double unroll_ = 0;
};

}  // namespace

std::optional<ScheduleNest> ansorNest(const TunedRow& row) {
    return Replay(row).made();
}

}  // namespace orrery
