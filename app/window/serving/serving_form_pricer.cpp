// Who prices iterations: the kernel methods that price the pools' devices, and which one does where nobody chose.

#include "app/window/form_parts.h"
#include "app/window/serving/serving_form.h"
#include "methods/among_all.h"
#include "methods/kernel_method.h"
#include "widgets/common/text.h"

#include <QFormLayout>
#include <QStandardItemModel>

#include <algorithm>
#include <utility>

namespace orrery::app {

namespace {

constexpr int ownRole = Qt::UserRole + 1;  ///< true: the question's own, that no list has

const PricerOffer* offerOf(const PoolPricers& pricers, std::string_view id) {
    const auto found =
        std::ranges::find_if(pricers.offers, [&](const PricerOffer& each) { return each.method->id == id; });
    return found == pricers.offers.end() ? nullptr : &*found;
}

bool refuses(const PoolPricers& pricers, std::string_view id) {
    const PricerOffer* offer = offerOf(pricers, id);
    return offer && offer->refusal;
}

QString titleOf(std::string_view id) {
    const Method* method = findMethod(id);
    return ui::qs(method ? std::string_view(method->card.title) : id);
}

}  // namespace

void ServingForm::buildPricer(QFormLayout* form, FieldRows& rows) {
    const FieldSpec& field = *findField("pools/time/method");
    method_ = namedChoice(inner_, "serving.method", ui::qs(field.title), fieldTip(field));
    rows.claim(method_, "pools/time/method");
    for (const KernelMethod& each : kernelMethods()) {
        const Method* method = findMethod(each.id);
        if (method && standsAmongAll(method->card)) method_->addItem(ui::qs(method->card.title), ui::qs(each.id));
    }
    form->addRow(ui::qs(field.shortTitle()), method_);
    connect(method_, &QComboBox::activated, this, &ServingForm::choosePricer);
}

void ServingForm::setPricers(std::vector<PoolPricers> pricers) {
    pricers_ = std::move(pricers);
    showPricer();
}

void ServingForm::showPricer() {
    const TimeSlot& slot = pool().time;
    if (method_->count() > 0 && method_->itemData(0, ownRole).toBool()) method_->removeItem(0);
    const bool ofKernels = slot.kind == SlotKind::Kernels;
    const QString chosen = ofKernels ? ui::qs(slot.method) : QString();
    if (method_->findData(chosen) < 0) {
        method_->insertItem(0,
                            slot.kind == SlotKind::Table ? tr("Measured: %1 tables").arg(ui::qs(slot.format))
                            : slot.kind == SlotKind::Law ? tr("A fitted law")
                                                         : chosen,
                            chosen);
        method_->setItemData(0, true, ownRole);
    }
    // What stands where nobody chose is for GPUs; elsewhere it means the best of those that could.
    const std::string unchosen = TimeSlot{}.method;
    const auto* items = qobject_cast<const QStandardItemModel*>(method_->model());
    for (int i = 0; i < method_->count(); ++i) {
        const std::string id = method_->itemData(i).toString().toStdString();
        if (method_->itemData(i, ownRole).toBool()) continue;
        const bool usual = id == unchosen && !pricers_.empty() && refuses(pricers_.front(), id);
        const bool none = !usual && !pricers_.empty() &&
                          std::ranges::all_of(pricers_, [&](const PoolPricers& each) { return refuses(each, id); });
        QString title = titleOf(id), tip = ui::qs(findMethod(id)->card.summary);
        if (usual) {
            const PoolPricers& first = pricers_.front();
            const bool asked = ofKernels && slot.method == unchosen && !first.used.empty();
            title = asked ? tr("Best here: %1").arg(titleOf(first.used)) : tr("Best for this device");
            tip = asked && !first.reason.empty() ? ui::windowText(first.reason)
                                                 : tr("The method with the smallest expected error for this device");
        } else if (none) {
            tip = ui::windowText(offerOf(pricers_.front(), id)->refusal->message);
        }
        method_->setItemText(i, title);
        method_->setItemData(i, tip, Qt::ToolTipRole);
        items->item(i)->setEnabled(!none);
    }
    selectData(method_, chosen);
    const QString told = method_->currentData(Qt::ToolTipRole).toString();
    method_->setToolTip(method_->currentText() + (told.isEmpty() ? QString() : QStringLiteral(": ") + told) +
                        QStringLiteral("\n\n") + fieldTip(*findField("pools/time/method")));
}

// Pools on other devices keep who prices them where this method does not.
void ServingForm::choosePricer() {
    const std::string id = method_->currentData().toString().toStdString();
    if (id.empty()) return;
    auto& pools = question_.scenario.pools;
    for (std::size_t i = 0; i < pools.size(); ++i) {
        if (id != TimeSlot{}.method && i < pricers_.size() && refuses(pricers_[i], id)) continue;
        std::string software = std::move(pools[i].time.software);
        pools[i].time = {};
        pools[i].time.software = std::move(software);
        pools[i].time.method = id;
    }
    showPricer();
    changed();
}

}  // namespace orrery::app
