#include "methods/system/training/copy_exchanges.h"

#include <algorithm>

namespace orrery {

CopyExchanges::CopyExchanges(const Plan& plan, const ExchangeCache& exchanges, double slower,
                             const std::stop_token& stop, const Communicator* holders)
    : exchanges_(exchanges), slower_(slower), stop_(stop), placed_(holders) {
    const std::int64_t perStage = plan.tensor * plan.context * plan.data;
    const std::int64_t set = perStage / plan.replicas();
    groups_[0] = {plan.context * plan.sharingCopies(), plan.tensor};
    groups_[1] = expertsAcrossCopies(plan) ? ExchangeGroup{set / plan.expert, plan.expert} : groups_[0];
    groups_[groups] = {plan.replicas(), set};
    if (plan.schedule == PipelineSchedule::DualPipe)
        for (std::size_t g = 0; g < groups; ++g) groups_[g].stages = plan.pipeline, groups_[g].stageStride = perStage;
    for (std::size_t g = 0; g <= groups; ++g) holders_[g] = std::max<std::int64_t>(1, groups_[g].members());
}

std::array<ExchangePrice, CopyExchanges::groups> CopyExchanges::reduce(const HeldBytes& bytes, bool divided) {
    const TraceCollective op = divided ? TraceCollective::ReduceScatter : TraceCollective::AllReduce;
    return {priced(op, 0, bytes.all - bytes.experts), priced(op, 1, bytes.experts)};
}

std::array<ExchangePrice, CopyExchanges::groups> CopyExchanges::replicate(const HeldBytes& bytes) {
    return {priced(TraceCollective::AllReduce, groups, (bytes.all - bytes.experts) / static_cast<double>(holders_[0])),
            priced(TraceCollective::AllReduce, groups, bytes.experts / static_cast<double>(holders_[1]))};
}

std::array<ExchangePrice, CopyExchanges::groups> CopyExchanges::gather(const HeldBytes& bytes) {
    return {priced(TraceCollective::AllGather, 0, (bytes.all - bytes.experts) / static_cast<double>(holders_[0])),
            priced(TraceCollective::AllGather, 1, bytes.experts / static_cast<double>(holders_[1]))};
}

const ExchangePrice& CopyExchanges::priced(TraceCollective op, std::size_t group, double share) {
    static const ExchangePrice free;
    const auto bytes = static_cast<std::int64_t>(share);
    if (bytes < 1 || holders_[group] < 2) return free;
    for (std::size_t i = 0; i < used_; ++i)
        if (known_[i].bytes == bytes && known_[i].op == op && known_[i].group == group) return known_[i].price;
    auto price = placed_ && group == 0 ? exchanges_.priceAmong(op, bytes, *placed_, stop_)
                                       : exchanges_.price(op, bytes, groups_[group], stop_);
    if (!price && !problem_) problem_ = std::move(price.error());
    // At their low side they take what they take alone.
    if (price)
        for (const auto side : {Sides::Low, Sides::Likely, Sides::High, Sides::Least})
            price->seconds.at[side] *= side == Sides::Low || side == Sides::Least ? std::min(slower_, 1.0) : slower_;
    Known& place = known_[used_ < most ? used_++ : most - 1];
    place = {op, group, bytes, price ? *price : ExchangePrice{}};
    return place.price;
}

}  // namespace orrery
