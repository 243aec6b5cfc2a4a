#include "app/window/compare/compare_page.h"
#include "app/window/form_parts.h"
#include "app/window/lack.h"
#include "app/window/page_head.h"
#include "app/window/studio.h"
#include "widgets/common/label.h"
#include "widgets/common/theme.h"
#include "widgets/common/veil.h"
#include "widgets/comparison/break_even_plot.h"
#include "widgets/comparison/waterfall_plot.h"
#include "widgets/evidence/cells_model.h"

#include <QHBoxLayout>
#include <QLineEdit>
#include <QMenu>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QSplitter>
#include <QStackedLayout>
#include <QTabBar>
#include <QTabWidget>
#include <QVBoxLayout>

namespace orrery::app {

PageCard ComparePage::card() const {
    return {QStringLiteral("compare"),
            tr("Compare"),
            tr("Results of A against B: cases against a baseline, where the time goes, what would have to change"),
            QStringLiteral("kr_comparedirs"),
            {},
            true,
            {}};
}

void ComparePage::build() {
    const int unit = ui::Theme::instance().unit();
    stack_ = new QStackedLayout(this);
    empty_ = new ui::EmptyPage(tr("Nothing is asked yet"), tr("Choose a design and a model in the library"));
    connect(empty_, &ui::EmptyPage::clicked, this, [this] { fillIn(studio_, lackOf(studio_.document)); });
    stack_->addWidget(empty_);
    auto* body = new QWidget(this);
    auto* column = new QVBoxLayout(body);
    column->setContentsMargins(unit, unit, unit, 0);
    column->setSpacing(unit);
    column->addWidget(buildHead(body));
    auto* split = named(new QSplitter(Qt::Vertical, body), "compare.split", tr("Cases and details"),
                        tr("Drag the border to give one side more room"));
    split->setChildrenCollapsible(false);
    table_ =
        new ui::CellsTable(QStringLiteral("compare.table"), tr("Cases"),
                           tr("Each case compared with the baseline. Click a row to see where the difference comes "
                              "from; click the first column to make it the baseline. Parentheses mean: not sure"),
                           split);
    table_->setMinimumHeight(12 * unit);
    split->addWidget(table_);
    split->addWidget(buildDetails(split));
    split->setStretchFactor(0, 0);
    split->setStretchFactor(1, 1);
    split->setSizes({22 * unit, 60 * unit});
    column->addWidget(split, 1);
    veil_ = new ui::Veil(split);
    stack_->addWidget(body);
    connect(table_, &ui::CellsTable::rowChosen, this, &ComparePage::choose);
    connect(table_, &QTableView::clicked, this, [this](const QModelIndex& index) {
        if (index.column() == 0) pin(table_->currentRow());
    });
    for (Background* each : {&work_, &changing_, &evening_}) {
        connect(each, &Background::advanced, this, &ComparePage::showHead);
        connect(each, &Background::ended, this, &ComparePage::showHead);
    }
}

QWidget* ComparePage::buildHead(QWidget* parent) {
    auto* head = new PageHead(QStringLiteral("compare"), parent);
    headline_ = head->headline();
    sub_ = head->sub();
    keep_ = head->addAbove("compare.keep", tr("Keep this as A"),
                           tr("Copies the question as it is now. Later changes are compared with it. One undo step"));
    keep_->setDefault(true);
    connect(keep_, &QPushButton::clicked, this, &ComparePage::keep);
    add_ = head->addAbove("compare.add", tr("Add"), tr("Adds another design of the project or of the library"));
    addMenu_ = new QMenu(add_);
    addMenu_->setObjectName(QStringLiteral("compareAddMenu"));
    addMenu_->setToolTipsVisible(true);
    add_->setMenu(addMenu_);
    connect(addMenu_, &QMenu::aboutToShow, this, &ComparePage::fillAddMenu);
    export_ = head->addAbove("compare.export", tr("Export …"),
                             tr("The bars as SVG, PDF or PNG; the table as CSV, LaTeX or JSON"));
    connect(export_, &QPushButton::clicked, this, &ComparePage::exportAs);

    bar_ = head->addProgress(tr("Answers"), tr("Answers so far"));
    stop_ = head->addBelow("compare.stop", tr("Stop"), tr("Stops the computation"));
    connect(stop_, &QPushButton::clicked, this, [this] {
        for (Background* each : {&work_, &changing_, &evening_}) each->cancel();
    });
    open_ = head->addBelow("compare.open", tr("Open"), tr("Makes the selected case the current question"));
    connect(open_, &QPushButton::clicked, this, &ComparePage::openChosen);
    remove_ = head->addBelow("compare.remove", tr("Remove"),
                             tr("Removes the selected case from the comparison; its design stays in the project"));
    connect(remove_, &QPushButton::clicked, this, &ComparePage::removeChosen);
    heat_ = head->addBelow("compare.heat", tr("Show as heat"),
                           tr("Paints the difference to the baseline on the graph and on the parts of the drawing: "
                              "blue is faster, vermilion slower"));
    connect(heat_, &QPushButton::clicked, this, &ComparePage::showHeat);
    return head;
}

QWidget* ComparePage::buildDetails(QWidget* parent) {
    const QString tip = tr("Where the time goes, what changes, and what would have to change");
    const int unit = ui::Theme::instance().unit();
    tabs_ = named(new QTabWidget(parent), "compare.views", tr("The chosen case against the baseline"), tip);
    tabs_->setDocumentMode(true);
    tabs_->tabBar()->setObjectName(QStringLiteral("compare.tabs"));
    tabs_->tabBar()->setAccessibleName(tr("The chosen case against the baseline"));
    tabs_->tabBar()->setToolTip(tip);

    auto* where = new QWidget(tabs_);
    auto* column = new QVBoxLayout(where);
    column->setContentsMargins(0, unit, 0, 0);
    column->setSpacing(0);
    auto* row = new QHBoxLayout;
    row->setSpacing(unit);
    row->addWidget(new ui::Label(tr("By"), ui::FontRole::Small, ui::Tone::Muted, where));
    by_ = namedChoice(where, "compare.by", tr("By"), tr("How the difference is split. The parts add up to it"));
    by_->addItem(tr("operator"));
    by_->addItem(tr("kind of operator"));
    by_->addItem(tr("block of layers"));
    by_->addItem(tr("cause"));
    row->addWidget(by_);
    row->addStretch(1);
    column->addLayout(row);
    auto* scroll = named(new QScrollArea(where), "compare.scroll", tr("Where the time goes"), tip);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    waterfall_ = new ui::WaterfallPlot(scroll);
    waterfall_->setEmptySentence(
        tr("Choose a case and a baseline to see the difference of each operator. Press Keep this as A, then change the "
           "design."));
    scroll->setWidget(waterfall_);
    column->addWidget(scroll, 1);
    tabs_->addTab(where, tr("Where the time goes"));

    changes_ = new ui::CellsTable(
        QStringLiteral("compare.changes"), tr("What changes"),
        tr("Differences of the two designs, old → new, and the time of the old design with each single change"), tabs_);
    tabs_->addTab(changes_, tr("What changes"));
    tabs_->addTab(buildBreakEven(tabs_), tr("Break-even"));
    connect(by_, &QComboBox::currentIndexChanged, this, &ComparePage::showWaterfall);
    connect(waterfall_, &ui::WaterfallPlot::chosen, this, &ComparePage::chooseTerm);
    connect(tabs_, &QTabWidget::currentChanged, this, &ComparePage::showDetails);
    return tabs_;
}

QWidget* ComparePage::buildBreakEven(QWidget* parent) {
    const int unit = ui::Theme::instance().unit();
    auto* page = new QWidget(parent);
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, unit, 0, 0);
    // Two lines, so that a narrow page cuts nothing.
    auto* row = new QHBoxLayout;
    auto* second = new QHBoxLayout;
    const auto word = [&](QHBoxLayout* line, const QString& text) {
        line->addWidget(new ui::Label(text, ui::FontRole::Small, ui::Tone::Muted, page));
    };
    word(row, tr("Change"));
    attribute_ = namedChoice(page, "compare.attribute", tr("Attribute"),
                             tr("The attribute to vary; choose one, or type its path"));
    attribute_->setEditable(true);
    attribute_->setInsertPolicy(QComboBox::NoInsert);
    attribute_->setMinimumContentsLength(16);
    attribute_->setMaximumWidth(40 * unit);
    row->addWidget(attribute_, 3);
    word(row, tr("of"));
    mover_ = namedChoice(page, "compare.mover", tr("Whose"),
                         tr("The case whose attribute varies; the other case does not change"));
    mover_->setMinimumContentsLength(12);
    mover_->setMaximumWidth(40 * unit);
    row->addWidget(mover_, 3);
    row->addStretch(1);
    word(second, tr("until both have the same"));
    quantity_ = namedChoice(page, "compare.quantity", tr("Column"), tr("What is to be reached"));
    for (const CaseQuantity& each : caseQuantities()) {
        quantity_->addItem(QString::fromUtf8(each.title.data(), qsizetype(each.title.size())).toLower(),
                           QString::fromUtf8(each.name.data(), qsizetype(each.name.size())));
    }
    second->addWidget(quantity_);
    evenKeep_ = named(new QPushButton(tr("Keep this answer"), page), "compare.evenKeep", tr("Keep this answer"),
                      tr("Stores this question and its answer in the project; one undo step"));
    evenKeep_->setCheckable(true);
    second->addWidget(evenKeep_);
    connect(evenKeep_, &QPushButton::clicked, this, &ComparePage::keepBreakEvenAnswer);
    second->addStretch(1);
    column->addLayout(row);
    column->addLayout(second);
    evenText_ = new ui::Label({}, ui::FontRole::Title, ui::Tone::Normal, page);
    evenText_->setObjectName(QStringLiteral("compare.even"));
    evenText_->setElided(true);
    column->addWidget(evenText_);
    curve_ = new ui::BreakEvenPlot(page);
    curve_->setEmptySentence(
        tr("The chosen column for each value of the attribute, and where it reaches the other case"));
    column->addWidget(curve_, 1);
    attribute_->lineEdit()->setObjectName(QStringLiteral("compare.attribute.text"));
    attribute_->lineEdit()->setAccessibleName(tr("Attribute"));
    attribute_->lineEdit()->setToolTip(attribute_->toolTip());
    connect(attribute_->lineEdit(), &QLineEdit::returnPressed, this, &ComparePage::askBreakEven);
    for (QComboBox* each : {attribute_, mover_, quantity_})
        connect(each, &QComboBox::activated, this, [this, each] {
            if (each == mover_) fillAttributes();
            askBreakEven();
        });
    return page;
}

}  // namespace orrery::app
