#pragma once

// Networks by name on many devices: what a new device takes for each, from a few networks measured on it. In logarithms
// a device is a level, what devices like it do beside their level, and a rest per network. Devices count by how alike
// their own times of the measured networks are and by how alike they are called (a local Gaussian process over
// devices); the rest is alike for networks that behave alike elsewhere and that are called alike. Where facts of
// networks are known (work, weights), devices also differ along them, a device that does nothing but one of them counts
// as a known one, and a network that no device has is told by a ridge on them and by its likes. How far likeness
// reaches and how large each rest is are chosen by leaving known devices out, with as many networks measured as here.
// One sample may be a slip or fall-back: that each of them is one is averaged by the evidence.

#include "base/diagnostic.h"
#include "learning/edge/device_prior.h"
#include "learning/edge/word_likeness.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace orrery {

/// All may be empty: then nothing is known of names.
struct NetworkNames {
    std::vector<std::string> networks;  ///< one each
    std::vector<std::string> devices;   ///< of each device that is given: name, columns that describe it
    std::vector<std::string> groups;    ///< devices of one group (runs of one board) are never told from each other
    /// What each network is made of, in numbers of any unit, NaN where one is not known; empty: none is.
    std::vector<std::vector<double>> shapes;
};

class NetworkMatrix {
public:
    /// `latencies[d][n]`, NaN where not measured. Devices with fewer than `leastNetworks` are left out. Fails with
    /// `edge.few-devices` (none left), `edge.shape`.
    static Expected<NetworkMatrix> learn(std::span<const std::vector<double>> latencies,
                                         const NetworkNames& names = {});
    static constexpr std::size_t leastNetworks = 3;

    /// Chooses reach and rests for samples of these networks; without it, usual ones. Where the likest device alone
    /// (`simple_models.h`) tells devices that are left out no worse, it answers. At most `mostLeftOut` are left out.
    void tune(std::span<const std::size_t> measured, std::uint64_t seed);
    static constexpr std::size_t mostLeftOut = 40;

    /// All networks of a device of which `measured` took `latencies` (above 0); `device`: its name and what describes
    /// it. Fails with `edge.bad-sample`, `edge.shape`.
    Expected<std::vector<Predicted>> predict(std::span<const std::size_t> measured, std::span<const double> latencies,
                                             std::string_view device = {}) const;

    /// How networks vary together from device to device in logarithms, their levels left free: n × n, before any sample
    /// (`next_samples.h` chooses by it), and what a sample is off beside.
    std::vector<double> covariance() const;
    double rest() const { return use_.rest; }
    bool simple() const { return simple_; }  ///< the likest device answers
    /// It may be off by two: see DeviceModel::doubtful().
    bool doubtful(const Predicted& told) const {
        return told.high > doubt_ * told.mean || doubt_ * told.low < told.mean;
    }
    double knownShare(std::size_t network) const;  ///< of devices that have it
    /// Some device has it, or it is known what it is made of.
    bool tells(std::size_t network) const { return all_.counts[network] > 0 || all_.guess[network] > 0; }

    std::size_t devices() const { return groups_.size(); }

private:
    struct Use {
        double reach = 0.25, names = 4, rest = 0.08, alike = 0.1, called = 0.05, slips = 0, built = 0, tilt = 0;
        bool rooflines = false;  ///< count as devices
    };
    struct Answer {
        std::vector<double> mean, deviation;
    };
    /// Some known devices beside each other. What is missing is filled by what the network and the device do.
    struct Rows {
        std::vector<double> logs;   ///< devices × networks, without the device's level
        std::vector<double> there;  ///< likewise, 1 where measured
        std::vector<double> tilts;  ///< likewise, what a device does along the networks' facts
        std::vector<double> levels;
        std::size_t devices = 0;     ///< so many of these; rooflines follow
        std::vector<double> counts;  ///< of networks, how many of these devices have it
        std::vector<double> guess;   ///< of networks that none has: variance of what their facts say; else 0
    };
    std::size_t networks_ = 0, facts_ = 0;
    std::vector<double> raw_;  ///< logarithms, devices × networks; 0 where not measured
    std::vector<char> known_;  ///< likewise, whether it was
    std::vector<std::size_t> groups_;
    WordLikeness deviceWords_;
    std::vector<double> called_;                  ///< networks × networks, how alike they are called; empty: not known
    std::vector<double> built_;                   ///< networks × networks, how alike they are made; empty: not known
    std::vector<double> shapes_;                  ///< networks × facts, in units of their spread, 0 where not known
    std::vector<char> shaped_;                    ///< of each network, whether an amount is known
    std::vector<std::vector<double>> rooflines_;  ///< facts that are amounts × networks, NaN where not known
    Rows all_;
    Use use_;
    double widening_ = 1;
    bool simple_ = false;
    double simpleReach_ = 0;  ///< half of its interval, in logarithms
    double doubt_ = 2;

    void takeShapes(std::span<const std::vector<double>> shapes);
    Rows settle(std::span<const std::size_t> among) const;
    void addRooflines(Rows& rows, std::span<const double> network) const;
    void tilt(Rows& rows, std::span<const double> network) const;
    void guess(Rows& rows, std::vector<double>& network) const;
    Answer answer(std::span<const std::size_t> measured, std::span<const double> logs, const Rows& rows,
                  std::span<const double> likeness, const Use& use) const;

    struct Task;
    Task without(std::size_t device) const;
    void measure(Task& task, std::span<const std::size_t> networks) const;
    std::vector<Task> leftOut(std::span<const std::size_t> measured, std::uint64_t seed) const;
    void judgeSimple(std::span<const Task> tasks, double best);
    double wideEnough(std::span<const std::vector<double>> off) const;
    std::vector<std::vector<double>> latenciesOf(std::span<const std::size_t> among) const;
};

}  // namespace orrery
