#pragma once

// Errors against a table of measured rows, source by source: half of each may have been fitted on, the other half is
// judged. Which half a row is in hangs on what it says about itself alone.

#include <QtGlobal>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::testing {

/// FNV-1a of the row's identity, its lowest bit.
inline bool judged(std::string_view identity) {
    std::uint64_t hash = 14695981039346656037ULL;
    for (const char each : identity) hash = (hash ^ static_cast<unsigned char>(each)) * 1099511628211ULL;
    return ((hash >> 17) & 1) != 0;
}

class MeasuredTable {
public:
    void add(const std::string& source, std::string_view identity, double predicted, double measured, double low,
             double high) {
        Source& its = sources_[source];
        const double error = predicted / measured - 1;
        (judged(identity) ? its.judged : its.fitted).push_back(error);
        if (low <= measured && measured <= high) ++its.inside;
    }

    struct Figures {
        std::size_t rows = 0, judgedRows = 0;
        double mean = 0, judgedMean = 0, bias = 0, worst = 0;  ///< mean absolute errors; `bias`: with their sign
        double coverage = 0;
    };
    Figures of(const std::string& source) const {
        const auto found = sources_.find(source);
        return found == sources_.end() ? Figures{} : figures(found->second);
    }
    std::vector<std::string> sources() const {
        std::vector<std::string> names;
        for (const auto& [name, its] : sources_) names.push_back(name);
        return names;
    }
    Figures all() const {
        Source sum;
        for (const auto& [name, its] : sources_) {
            sum.judged.insert(sum.judged.end(), its.judged.begin(), its.judged.end());
            sum.fitted.insert(sum.fitted.end(), its.fitted.begin(), its.fitted.end());
            sum.inside += its.inside;
        }
        return figures(sum);
    }
    void print() const {
        const auto line = [](const std::string& name, const Figures& its) {
            qInfo(
                "%-44s %3zu rows, mean error %5.1f %%; %3zu judged: %5.1f %%; bias %+5.1f %%, worst %+6.1f %%, %3.0f "
                "%% inside",
                name.c_str(), its.rows, 100 * its.mean, its.judgedRows, 100 * its.judgedMean, 100 * its.bias,
                100 * its.worst, 100 * its.coverage);
        };
        for (const auto& [name, its] : sources_) line(name, figures(its));
        line("all", all());
    }

private:
    struct Source {
        std::vector<double> fitted, judged;
        std::size_t inside = 0;
    };
    static Figures figures(const Source& its) {
        Figures out;
        out.rows = its.fitted.size() + its.judged.size();
        out.judgedRows = its.judged.size();
        double judgedSum = 0, sum = 0, signedSum = 0;
        for (const auto* half : {&its.fitted, &its.judged}) {
            for (const double error : *half) {
                sum += std::abs(error);
                signedSum += error;
                if (half == &its.judged) judgedSum += std::abs(error);
                if (std::abs(error) > std::abs(out.worst)) out.worst = error;
            }
        }
        const auto rows = static_cast<double>(std::max<std::size_t>(1, out.rows));
        out.mean = sum / rows;
        out.bias = signedSum / rows;
        out.judgedMean = judgedSum / static_cast<double>(std::max<std::size_t>(1, out.judgedRows));
        out.coverage = static_cast<double>(its.inside) / rows;
        return out;
    }
    std::map<std::string, Source> sources_;
};

}  // namespace orrery::testing
