#pragma once

// A trace of a run as CSV, one row per cycle: cycle, fold, words asked of each SRAM, words missing (or exchanges of
// halves where bandwidth is limited), PEs at work, cycles of waiting that follow.

#include "simulation/systolic/simulate.h"

#include <cstdio>
#include <memory>
#include <string>

namespace orrery::systolic {

class CsvTrace : public CycleSink {
public:
    /// Creates or empties the file. Fails with `systolic.trace`.
    static Expected<std::unique_ptr<CsvTrace>> open(const std::string& file);
    void layer(const std::string& name);  ///< the rows that follow are of this layer
    bool cycle(const CycleRow& row) override;
    /// Writes what is left; false if anything could not be written.
    bool close();
    ~CsvTrace() override;

private:
    explicit CsvTrace(std::FILE* file) : file_(file) {}
    bool flush();
    std::FILE* file_;
    std::string layer_, buffer_;
    bool good_ = true;
};

}  // namespace orrery::systolic
