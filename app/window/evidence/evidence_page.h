#pragma once

// The evidence document: how far to trust each method. Errors against references, coverage, the references themselves,
// and fitting methods to them.

#include "app/window/page.h"

#include <functional>
#include <map>
#include <memory>

class QTabWidget;

namespace orrery {
struct Calibration;
}
namespace orrery::ui {
class CoverageMatrix;
}

namespace orrery::app {

class AccuracyTab;
class CalibrateTab;
class DeviceTab;
class ReferenceShelf;
class RunsTab;
class ScheduleSearchTab;
class SchedulesTab;
class SurveyTab;
class TransferTab;
class VersionsTab;

class EvidencePage : public Page {
    Q_OBJECT
public:
    EvidencePage(Studio& studio, QWidget* parent);
    PageCard card() const override;
    void join(Studio& studio) override;
    bool accepts(const OpenFile& file) const override;
    std::vector<FileFilter> filters() const override;
    std::vector<ui::PaletteEntry> findable() override;
    void open(const QString& path) override;
    /// What was judged: the report of the comparison with its figures, tables and rows, in a folder of its own.
    bool isBusy() const override;
    bool showsAnswer() const override;
    Expected<QStringList> report(const QString& folder) override;

    ReferenceShelf* shelf() const { return shelf_; }
    /// These are null until the page is made, all but the first until they are looked at or the window has time.
    AccuracyTab* accuracy() const { return accuracy_; }
    CalibrateTab* calibrate() const { return calibrate_; }
    VersionsTab* versions() const { return versions_; }
    TransferTab* transfer() const { return transfer_; }
    RunsTab* runs() const { return runs_; }
    SurveyTab* survey() const { return survey_; }
    DeviceTab* device() const { return device_; }
    SchedulesTab* schedules() const { return schedules_; }
    ScheduleSearchTab* scheduleSearch() const { return scheduleSearch_; }
    QTabWidget* scheduleKinds() const { return scheduleKinds_; }  ///< the two above
    QTabWidget* tabs() const { return tabs_; }

signals:
    void calibrationChosen(std::shared_ptr<const orrery::Calibration> calibration);

protected:
    void build() override;
    void showEvent(QShowEvent* event) override;

private:
    QWidget* buildCoverage();
    void addOtherTabs();
    void makeTab(int tab);
    void makeNextTab();  ///< one in each turn of the events: all together hold the window up
    void joinAccuracy();
    void joinRuns();
    void refreshCoverage();
    void comeToAccuracy();
    void comeTo(const QString& tab);
    void useCalibration(const std::shared_ptr<const Calibration>& calibration);
    void showCoverage();
    void exportAccuracy();
    void saveJudging();
    void importResults();

    Studio& studio_;
    ReferenceShelf* shelf_;
    QTabWidget* tabs_ = nullptr;
    AccuracyTab* accuracy_ = nullptr;
    CalibrateTab* calibrate_ = nullptr;
    VersionsTab* versions_ = nullptr;
    TransferTab* transfer_ = nullptr;
    RunsTab* runs_ = nullptr;
    SurveyTab* survey_ = nullptr;
    DeviceTab* device_ = nullptr;
    SchedulesTab* schedules_ = nullptr;
    ScheduleSearchTab* scheduleSearch_ = nullptr;
    QTabWidget* scheduleKinds_ = nullptr;
    ui::CoverageMatrix *platforms_ = nullptr, *classes_ = nullptr;
    bool coverageIsOld_ = false;                                     ///< more has been judged since
    std::map<int, std::function<QWidget*(QWidget* pages)>> makers_;  ///< of tabs that wait
};

}  // namespace orrery::app
