#include "app/cli/search_keeping.h"

#include <algorithm>

namespace orrery::cli {

Expected<std::unique_ptr<SearchKeeping>> SearchKeeping::open(const std::string& folder, const LoadedSearch& loaded,
                                                             const AgentInfo& agent, bool resume) {
    auto opened = SearchStore::open(folder + "/runs.sqlite");
    if (!opened) return Unexpected(opened.error());
    std::unique_ptr<SearchKeeping> keeping(new SearchKeeping);
    keeping->store_ = std::move(*opened);
    keeping->name_ = loaded.name;
    SearchStore& store = *keeping->store_;
    const std::string text = searchProblemText(loaded.problem, agent);
    const std::size_t width = loaded.problem.objectives.size();
    if (resume) {
        const auto found = store.find(text);
        if (!found) return Unexpected(found.error());
        keeping->id_ = *found;
        if (keeping->id_ != 0) {
            auto points = store.points(keeping->id_, width);
            if (!points) return Unexpected(points.error());
            keeping->known_ = std::move(*points);
        }
    }
    keeping->own_ = keeping->known_.size();
    for (const std::uint64_t point : keeping->known_.points) keeping->knownPoints_.insert(point);
    const auto others = store.answered(text, width);
    if (!others) return Unexpected(others.error());
    for (std::size_t i = 0; i < others->size(); ++i)
        if (keeping->knownPoints_.insert(others->points[i]).second) keeping->known_.add(others->at(i));
    if (keeping->id_ == 0) {
        const auto begun = store.begin(loaded.name, text);
        if (!begun) return Unexpected(begun.error());
        keeping->id_ = *begun;
    }
    return keeping;
}

void SearchKeeping::join(SearchOptions& options) {
    options.known = &known_;
    options.knownCheap = [this](const SearchProblem& asked) { return knownCheap(asked); };
    options.onCheap = [this](const SearchProblem& asked, const PointAnswers& fresh) { return addCheap(asked, fresh); };
}

bool SearchKeeping::add(const PointAnswers& seen, std::size_t first) {
    if (broken_) return false;
    if (seen.size() <= own_) return true;
    if (auto kept = store_->add(id_, seen, std::max(first, own_)); !kept) broken_ = kept.error();
    return !broken_;
}

std::size_t SearchKeeping::fresh(const PointAnswers& seen) const {
    return static_cast<std::size_t>(std::count_if(
        seen.points.begin(), seen.points.end(), [this](std::uint64_t point) { return !knownPoints_.contains(point); }));
}

PointAnswers SearchKeeping::knownCheap(const SearchProblem& asked) {
    const std::string text = cheapProblemText(asked, id_);
    const std::size_t width = asked.objectives.size();
    Cheap& cheap = cheap_[asked.method];
    const auto look = [&]() -> Expected<PointAnswers> {
        const auto found = store_->find(text);
        if (!found) return Unexpected(found.error());
        cheap.id = *found;
        if (cheap.id != 0) {
            auto kept = store_->points(cheap.id, width);
            if (!kept) return kept;
            cheap.kept = std::move(*kept);
        }
        return store_->answered(text, width);
    };
    auto known = look();
    if (!known) {
        broken_ = known.error();
        return {};
    }
    return std::move(*known);
}

bool SearchKeeping::addCheap(const SearchProblem& asked, const PointAnswers& fresh) {
    if (broken_) return false;
    Cheap& cheap = cheap_[asked.method];
    if (cheap.id == 0) {
        const auto begun = store_->begin(name_ + " by " + asked.method, cheapProblemText(asked, id_));
        if (!begun) {
            broken_ = begun.error();
            return false;
        }
        cheap.id = *begun;
    }
    const std::size_t first = cheap.kept.size();
    for (std::size_t i = 0; i < fresh.size(); ++i) cheap.kept.add(fresh.at(i));
    if (auto kept = store_->add(cheap.id, cheap.kept, first); !kept) broken_ = kept.error();
    return !broken_;
}

}  // namespace orrery::cli
