#pragma once

// What the page compares, read from the document: its scenarios, the first one being the question of the window.

#include "app/document/document.h"
#include "study/comparison/cases.h"

#include <map>
#include <string>
#include <vector>

namespace orrery::app {

struct CaseQuestion {
    int scenario = 0;  ///< place among the document's scenarios
    std::string name;  ///< design, and model and plan where these differ between the cases
    HardwarePtr hardware;
    WorkloadRecipe recipe;
    Plan plan;
    Software software;
    Task task = Pass{};
    bool operator==(const CaseQuestion&) const = default;
};

struct CompareQuestion {
    std::vector<CaseQuestion> cases;
    std::size_t baseline = 0;  ///< index into cases
    bool pinned = false;       ///< chosen by a person; else the first other one
    std::vector<std::string> methods;
    std::map<std::string, double, std::less<>> prices;
    bool operator==(const CompareQuestion&) const = default;
};
/// Scenarios whose design or model is not there are left out. Of the project's methods those that answer at once, and
/// for kinds of question that none of these answers all that do; for serving runs, where the project has none, the
/// simulation. Empty where nothing is asked.
CompareQuestion compareQuestion(const Document& document);

}  // namespace orrery::app
