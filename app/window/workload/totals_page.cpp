#include "app/window/workload/totals_page.h"

#include <QLabel>
#include <QVBoxLayout>

namespace orrery::app {

TotalsPage::TotalsPage(Studio&, QWidget* parent) : Page(parent), text_(new QLabel(tr("The totals of a workload stand here."), this)) {
    auto* column = new QVBoxLayout(this);
    column->addWidget(text_, 0, Qt::AlignCenter);
}

PageCard TotalsPage::card() const {
    return {"totals", tr("Totals"), tr("What one pass of the workload counts up to")};
}

void TotalsPage::feed(const ui::SnapshotPtr& snapshot) {
    if (snapshot && snapshot->scenario.workload)
        text_->setText(tr("%1 FLOP").arg(snapshot->scenario.workload->totals.flops));
}

}  // namespace orrery::app
