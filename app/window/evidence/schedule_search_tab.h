#pragma once

// A search over the schedules of a product on a drawn device, watched while it runs: which guide finds the best how
// soon, what was tried, and one of the schedules as loops.

#include "hardware/views/device_ref.h"
#include "methods/schedule/schedule_search.h"

#include <QWidget>

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

class QComboBox;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace orrery::ui {
class CellsTable;
class Label;
class LinePlot;
class NestCode;
class NestPicture;
}  // namespace orrery::ui

namespace orrery::app {

class Background;

class ScheduleSearchTab : public QWidget {
    Q_OBJECT
public:
    /// `drawn`: the design of the current scenario; null where there is none.
    explicit ScheduleSearchTab(std::function<HardwarePtr()> drawn, QWidget* parent = nullptr);
    ~ScheduleSearchTab() override;
    bool isWorking() const;
    /// One per guide of the question that stands; the one under way as far as it is known.
    const std::vector<ScheduleSearch>& searches() const { return searches_; }
    /// By the ending: the trials (csv), the plot's numbers in them. What went wrong; empty if nothing.
    QString exportTo(const QString& file) const;

private:
    /// Written by the searching thread, read by the window while it runs.
    struct Live {
        std::mutex guard;
        ScheduleSearch search;
        bool fresh = false;
    };
    QWidget* buildForm();
    void start();
    void takeLive();
    void put(ScheduleSearch search);
    void showCurves();
    void showTrials();
    void showTrial(int row);
    void showState();
    void say(const QString& text, bool bad = false);
    std::string trialsCsv() const;

    std::function<HardwarePtr()> drawn_;
    QComboBox *device_, *guide_;
    QLineEdit* workload_;
    QSpinBox *trials_, *seed_;
    QPushButton *start_, *export_;
    ui::Label* state_;
    ui::LinePlot* plot_;
    ui::CellsTable* list_;
    ui::NestCode* code_;
    ui::NestPicture* picture_;
    QString question_;  ///< device and workload that `searches_` are of
    std::shared_ptr<SchedulePrices> prices_;
    std::vector<ScheduleSearch> searches_;
    std::vector<SchedulePoint> listed_;
    std::shared_ptr<Live> live_;
    Background* work_;
};

}  // namespace orrery::app
