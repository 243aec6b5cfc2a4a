#pragma once

// Searches in the run database: every batch of points survives the program being killed, and a search that was stopped
// goes on where it was.

#include "study/exploration/agents.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace orrery {

/// All that decides which numbers a search finds: method, question, knobs, objectives, constraints, price, seed, agent,
/// and what answers may change with: the shipped calibrations and Orrery's version.
std::string searchProblemText(const SearchProblem& problem, const AgentInfo& agent);
/// The same of the answers that a cheaper method gives to the search `of`: they are stored beside it, as a search of
/// their own that searches() does not list.
std::string cheapProblemText(const SearchProblem& asked, std::int64_t of);

struct StoredSearch {
    std::int64_t id = 0;
    std::string name;
    std::string started;  ///< ISO 8601, UTC
    bool finished = false;
    std::size_t points = 0;
};

class SearchStore {
public:
    /// Fails as RunStore::open() does; both may stand open over one file.
    static Expected<std::unique_ptr<SearchStore>> open(const std::string& path);
    virtual ~SearchStore() = default;
    virtual Expected<std::int64_t> begin(const std::string& name, const std::string& problemText) = 0;
    /// The newest search that asks exactly this; 0 if there is none.
    virtual Expected<std::int64_t> find(const std::string& problemText) = 0;
    /// Rows from `first`; their positions must be new. Durable, all of them or none, when it returns.
    virtual Expected<void> add(std::int64_t search, const PointAnswers& evaluations, std::size_t first) = 0;
    virtual Expected<void> finish(std::int64_t search) = 0;
    virtual Expected<PointAnswers> points(std::int64_t search, std::size_t objectives) = 0;
    virtual Expected<std::vector<StoredSearch>> searches() = 0;
    /// Points that any search has answered, whatever its agent and ladder, that asks each point what this text asks
    /// it. Of points that several have the oldest answer.
    virtual Expected<PointAnswers> answered(const std::string& problemText, std::size_t objectives) = 0;
};

}  // namespace orrery
