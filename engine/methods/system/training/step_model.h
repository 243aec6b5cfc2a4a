#pragma once

// The closed form of a training step (class of Paleo, Calculon, MAD Max): what estimate_training.h runs, as sums and
// maxima. Prepared once for a drawing, a model and a method that prices kernels; layers are priced once for every
// distinct shard, exchanges once for every distinct size and group, and a plan is then arithmetic.
//
//   stage     F, B: computing and exchanges inside its layers, forwards and backwards, of one micro-batch
//   pipeline  fill + (m - 1) of the slowest turn (Narayanan et al. 2021, section 2.2); pipeline_law.h
//   data      gradients in buckets beside the last backward pass: the later of "all from the first bucket on" and
//             "the last bucket after the last layer"
//   step      the last stage to end, its optimizer, and the gathering of shared parameters

#include "methods/method.h"
#include "methods/system/training/step_figures.h"

#include <map>
#include <memory>
#include <string>

namespace orrery {

struct ClusterView;
struct StackOnGeneration;

/// A plan of a training step: Plan says how it is spread, the task says what is computed again.
struct StepPlan {
    Plan plan;
    Recompute recompute = Recompute::None;
    bool operator==(const StepPlan&) const = default;
};
std::string toText(const StepPlan& plan);  ///< `tp=8,pp=2 recompute=full`

/// Dollars per hour of one device, by the device's name or path; "": of any other.
using DevicePrices = std::map<std::string, double, std::less<>>;

/// What no way of cutting a shard into stages and copies changes: bounds for a search. Seconds are likely ones.
struct StepTotals {
    double pass = 0;       ///< s of one micro-batch through all layers and back on one device, exchanges included
    double computing = 0;  ///< s of it that are computing
    double optimizer = 0;  ///< s over all layers, undivided
    double parameterBytes = 0, stateBytes = 0;  ///< B of all layers: weights, and the optimizer's state
    double capacity = 0;                        ///< B of a device; 0: not stated
    double joulesPerSecond = 0;                 ///< of a device that computes; 0: not stated
    double dollarsPerHour = 0;                  ///< of one device; 0: no price given
    std::int64_t layers = 1;                    ///< that are dealt out to stages
};

/// Thread-safe; caches grow with the distinct shards that are asked for.
class StepModel {
public:
    /// `scenario`: hardware, workload (its batch is the global one) and a TrainingStep; its plan and the step's
    /// recomputation are not read. The method composes kernels; options, calibrations and seed are those of `context`,
    /// whose calibrations must outlive the model. Fails as clusterView(), with `training.parts` for a method that does
    /// not tell passes apart, `method.not-applicable` where the task is no training step.
    static Expected<std::shared_ptr<const StepModel>> make(const Method& method, const Scenario& scenario,
                                                           const EstimateContext& context, DevicePrices prices = {});
    ~StepModel();

    /// Fails as estimateTrainingStep() does: plans that do not divide, more devices than are drawn. The first plan of a
    /// shard takes as long as the method does (milliseconds), every other some microseconds.
    Expected<StepFigures> figures(const StepPlan& plan, const std::stop_token& stop = {}) const;

    /// The same with other numbers of the stack that the method's option names: for a fit. `kernels` has none, and
    /// stays as it is; so do plans on several kinds of device.
    Expected<StepFigures> figures(const StepPlan& plan, const StackOnGeneration& row,
                                  const std::stop_token& stop = {}) const;

    /// Of the plan's shard, from the same cache. On several kinds of device: of the mean stage and copy, as bounds for
    /// any way to deal layers; `computing` then counts J at 1 W. Fails as figures().
    Expected<StepTotals> totals(const StepPlan& plan, const std::stop_token& stop = {}) const;

    /// What the method says of the plan's shard: one micro-batch through all layers of one device, and what was
    /// assumed in cutting it. Fails as figures().
    struct Shard {
        Estimate estimate;
        std::vector<std::string> assumptions;
        std::string measured;    ///< basis of the figures' interval, where steps of the stack were measured; else empty
        WorkloadPtr workload;    ///< of one device and one micro-batch, all layers
        double peakSeconds = 0;  ///< that its FLOPs take at the device's peak; 0: not known
    };
    Expected<Shard> shard(const StepPlan& plan, const std::stop_token& stop = {}) const;

    const ClusterView& cluster() const;
    const Scenario& scenario() const;  ///< as given to make()
    const Method& method() const;

private:
    struct State;
    struct Found;
    Expected<Found> find(const StepPlan& plan, const std::stop_token& stop) const;
    explicit StepModel(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace orrery
