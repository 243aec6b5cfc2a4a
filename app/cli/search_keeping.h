#pragma once

// `search --out DIR`: every answer of a search, also of cheaper methods, into DIR/runs.sqlite, and out of it what is
// known from before.

#include "store/project/search_file.h"
#include "store/runs/search_store.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>

namespace orrery::cli {

class SearchKeeping {
public:
    /// Goes on with the newest search of the same problem and agent if `resume` says so, else begins one. Fails as
    /// SearchStore does.
    static Expected<std::unique_ptr<SearchKeeping>> open(const std::string& folder, const LoadedSearch& loaded,
                                                         const AgentInfo& agent, bool resume);
    /// Lets a search take what is known, and its cheaper methods keep what they answer. Must outlive it.
    void join(SearchOptions& options);
    /// Rows from `first`; those that this search has had are there already. False once anything could not be stored.
    bool add(const PointAnswers& seen, std::size_t first);
    std::int64_t id() const { return id_; }
    /// How many of these were not known.
    std::size_t fresh(const PointAnswers& seen) const;
    Expected<void> finish() { return store_->finish(id_); }
    const std::optional<Diagnostic>& broken() const { return broken_; }

private:
    struct Cheap {
        std::int64_t id = 0;
        PointAnswers kept;  ///< as they stand there
    };
    SearchKeeping() = default;
    PointAnswers knownCheap(const SearchProblem& asked);
    bool addCheap(const SearchProblem& asked, const PointAnswers& fresh);

    std::unique_ptr<SearchStore> store_;
    std::string name_;
    std::int64_t id_ = 0;
    std::size_t own_ = 0;  ///< points of this search that stand there, the first of `known_`
    PointAnswers known_;
    std::unordered_set<std::uint64_t> knownPoints_;
    std::map<std::string, Cheap> cheap_;  ///< by method
    std::optional<Diagnostic> broken_;
};

}  // namespace orrery::cli
